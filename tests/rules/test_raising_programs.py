"""Rules whose findings are certain are held against what a run of the program says."""

from __future__ import annotations

from pathlib import Path

import pytest

from jaxlint.rule import Rule
from jaxlint.source.read import source_from_bytes
from jaxlint.staging import analyze
from jaxlint_rules.api.callback_transformed import CallbackTransformed
from jaxlint_rules.api.debug_print_arguments import DebugPrintArguments
from jaxlint_rules.tracing.array_item_assignment import ArrayItemAssignment
from jaxlint_rules.tracing.frozen_field_assignment import FrozenFieldAssignment
from jaxlint_rules.tracing.tracer_concretization import TracerConcretization
from jaxlint_rules.tracing.tracer_to_numpy import TracerToNumpy

HEAD = """
import dataclasses
from typing import NamedTuple
import chex
import equinox as eqx
import flax.linen as nn
import flax.struct
import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import io_callback

x = jnp.arange(4.0)
"""
CLASSES = {
    "@flax.struct.dataclass\nclass C:\n    a: int = 1\n": True,
    "@flax.struct.dataclass(frozen=False)\nclass C:\n    a: int = 1\n": False,
    "class C(flax.struct.PyTreeNode):\n    a: int = 1\n": True,
    "@chex.dataclass\nclass C:\n    a: int = 1\n": False,
    "@chex.dataclass(frozen=True)\nclass C:\n    a: int = 1\n": True,
    "@dataclasses.dataclass\nclass C:\n    a: int = 1\n": False,
    "@dataclasses.dataclass(frozen=True)\nclass C:\n    a: int = 1\n": True,
    "@dataclasses.dataclass(frozen=True)\nclass B:\n    a: int = 1\nclass C(B):\n    pass\n": True,
    "class C(eqx.Module):\n    a: int = 1\n": True,
    "class C(NamedTuple):\n    a: int = 1\n": True,
    "class C(nn.Module):\n    a: int = 1\n": False,
    "class C:\n    def __init__(self):\n        self.a = 1\n": False,
}
VIEWS = {
    "np.asarray(x)": True,
    "np.asanyarray(x)": True,
    "np.ascontiguousarray(x)": True,
    "jax.device_get(x)": True,
    "np.asarray(x).reshape(2, 2)": True,
    "np.asarray(x).ravel()": True,
    "np.asarray(x).T": True,
    "np.asarray(x)[1:]": True,
    "np.array(x)": False,
    "np.asarray(x).copy()": False,
    "np.asarray(x).astype(np.float32)": False,
    "np.asarray(x, dtype=np.float64)": False,
    "np.asarray(x)[[0, 1]]": False,
    "np.sqrt(x)": False,
}
TEXTS = ['"x"', '"x {}"', '"x {} {}"', '"{0} {0}"', '"{v}"', '"{{}}"', '"%f"', '"{} {v}"']
STRUCT = "jax.ShapeDtypeStruct((), jnp.float32)"
CALLBACKS = {
    f"jax.grad(lambda v: jax.pure_callback(np.sin, {STRUCT}, v))(1.0)": True,
    f"jax.grad(lambda v: v * jax.pure_callback(np.sin, {STRUCT}, jax.lax.stop_gradient(v)))(1.0)": False,
    f"jax.grad(lambda v: v * jax.pure_callback(np.sin, {STRUCT}, x[0]))(1.0)": False,
    f"jax.vmap(lambda v: jax.pure_callback(np.sin, {STRUCT}, v))(x)": True,
    f"jax.vmap(lambda v: jax.pure_callback(np.sin, {STRUCT}, v, vmap_method='sequential'))(x)": False,
    f"jax.vmap(lambda v: v * jax.pure_callback(np.sin, {STRUCT}, x[0]))(x)": False,
    "jax.vmap(lambda v: io_callback(lambda a: None, None, v, ordered=True))(x)": True,
    "jax.vmap(lambda v: io_callback(lambda a: None, None, v))(x)": False,
    "jax.grad(lambda v: (jax.debug.callback(lambda a: None, v), v * v)[1])(1.0)": False,
}


# Of a value `v` whose gradient is taken outside of `jit`: what has numbers to give, and what has not.
DIFFERENTIATED = {
    "v * v.item()": False,
    "v * int(v)": False,
    "v if v > 0 and v < 9 else -v": False,
    "max(v, 1.0)": False,
    "v * float(jax.lax.stop_gradient(v))": False,
    "v * np.sin(jax.lax.stop_gradient(v))": False,
    "v * np.prod(v.shape)": False,
    "np.sum(v * jnp.ones(3))": False,
    "(v * np.ones(3)).sum()": False,
    "(jnp.ones(3) * v)[np.asarray(jnp.argmax(v))]": False,
    "v * float(v)": True,
    "v * math.sqrt(v)": True,
    "(f'{v:.2f}', v)[1]": True,
    "v * v.tolist()": True,
    "np.sin(v)": True,
    "np.asarray(v).sum()": True,
    "np.array([v, v]).sum()": True,
    "np.dot(v, v)": True,
    "scipy.special.gammaln(v)": True,
}


def raises(code: str) -> bool:
    try:
        exec(code, {"__name__": __name__})
    except (AttributeError, IndexError, KeyError, NotImplementedError, TypeError, ValueError):
        return True
    return False


def check(rule: type[Rule], code: str, bad: bool, folder: Path) -> None:
    source = source_from_bytes(code.encode(), folder / "program.py", "program.py")
    found = analyze([source], [rule()])
    assert not found.errors
    assert (raises(code), bool(found.findings)) == (bad, bad)


@pytest.mark.parametrize(("text", "bad"), CLASSES.items())
def test_frozen_classes(text: str, bad: bool, tmp_path: Path) -> None:
    check(FrozenFieldAssignment, f"{HEAD}{text}\nmade = C()\nmade.a = 2\n", bad, tmp_path)


@pytest.mark.parametrize(("text", "bad"), VIEWS.items())
@pytest.mark.parametrize("change", ["made[0] = 2", "made += 2", "made.fill(2)"])
def test_views_of_arrays(text: str, bad: bool, change: str, tmp_path: Path) -> None:
    check(ArrayItemAssignment, f"{HEAD}\nmade = {text}\n{change}\n", bad, tmp_path)


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("given", ["", ", x", ", v=x", ", x, x", ", x, v=x"])
def test_texts_of_debug_print(text: str, given: str, tmp_path: Path) -> None:
    code = f"{HEAD}\njax.debug.print({text}{given})\n"
    check(DebugPrintArguments, code, raises(code), tmp_path)


@pytest.mark.parametrize(("call", "bad"), CALLBACKS.items())
def test_callbacks_under_transformations(call: str, bad: bool, tmp_path: Path) -> None:
    check(CallbackTransformed, f"{HEAD}\n{call}\n", bad, tmp_path)


@pytest.mark.parametrize(("result", "bad"), DIFFERENTIATED.items())
@pytest.mark.parametrize("api", ["grad", "value_and_grad"])
def test_gradients_outside_of_jit(result: str, bad: bool, api: str, tmp_path: Path) -> None:
    code = f"{HEAD}import math\nimport scipy.special\njax.{api}(lambda v: {result})(x[2])\n"
    check(
        TracerToNumpy if "np." in result or "scipy" in result else TracerConcretization, code, bad, tmp_path
    )
