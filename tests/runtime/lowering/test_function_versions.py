"""Staging keeps what the user's call was: static arguments, keywords, weak types, donation, keys."""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxlint_runtime.lowering import function_versions
from jaxlint_runtime.lowering.function_versions import StagingError, capture
from jaxlint_runtime.model import JitOptions
from jaxlint_runtime.targets import parse

cpu = parse("cpu")


def staged(captured):
    return function_versions.stage(
        function_versions.version_of(captured), function_versions.bind(captured), cpu
    )


def call(program):
    values = [leaf.value for leaf in program.bound.leaves]
    args, kwargs = program.bound.dynamic(function_versions.placed(program.bound, values, cpu))
    return program.compiled(*args, **kwargs)


def scaled(x, kind, power=1, *, shift=0.0):
    assert kind in ("plus", "minus")
    return (x**power + shift) * (1 if kind == "plus" else -1)


@pytest.mark.parametrize(
    ("args", "kwargs", "options"),
    [
        pytest.param((3.0 * jnp.ones(2), "minus"), {}, JitOptions(static_argnums=(1,)), id="by position"),
        pytest.param(
            (3.0 * jnp.ones(2), "minus"),
            {},
            JitOptions(static_argnames=("kind",)),
            id="by name, given by position",
        ),
        pytest.param(
            (3.0 * jnp.ones(2),),
            {"kind": "minus"},
            JitOptions(static_argnums=(1,)),
            id="by position, given by name",
        ),
        pytest.param(
            (3.0 * jnp.ones(2), "minus", 2),
            {"shift": 1.5},
            JitOptions(static_argnums=(1,), static_argnames=("power",)),
            id="both",
        ),
        pytest.param(
            (3.0 * jnp.ones(2), "minus", 2), {}, JitOptions(static_argnums=(-2, -1)), id="from the end"
        ),
    ],
)
def test_static_arguments(args, kwargs, options):
    program = staged(capture(scaled, *args, options=options, **kwargs))
    assert jnp.allclose(call(program), scaled(*args, **kwargs))


def test_methods_partials_and_callables():
    class Model:
        def __init__(self, w):
            self.w = w

        def predict(self, x):
            return x @ self.w

        def __call__(self, x):
            return 2 * self.predict(x)

    model, x = Model(jnp.eye(3)), jnp.ones(3)
    for function in (model.predict, model, functools.partial(jnp.multiply, 2.0), lambda x: x + 1):
        assert jnp.allclose(call(staged(capture(function, x))), function(x))


def test_weak_types_are_kept():
    half = jnp.ones(3, jnp.bfloat16)
    strong = staged(capture(jnp.multiply, half, jnp.float32(2)))
    weak = staged(capture(jnp.multiply, half, 2.0))
    array = staged(capture(jnp.multiply, half, jnp.asarray(2.0)))
    assert [call(p).dtype.name for p in (strong, weak, array)] == ["float32", "bfloat16", "bfloat16"]


def test_what_numpy_widens_is_narrowed_as_jit_does():
    program = staged(capture(lambda x, n: x * n, np.ones(3), np.arange(3)))
    assert call(program).dtype == jnp.float32


def test_random_keys_of_both_kinds():
    for key in (jax.random.key(3), jax.random.PRNGKey(3)):
        program = staged(capture(lambda k: jax.random.uniform(k, (4,)), key))
        assert jnp.array_equal(call(program), jax.random.uniform(key, (4,)))


def test_donation_is_kept_and_the_captured_arrays_survive():
    captured = capture(lambda x: x + 1, jnp.ones(4), options=JitOptions(donate_argnums=(0,)))
    program = staged(captured)
    assert jnp.allclose(call(program), 2.0)
    assert jnp.allclose(call(program), 2.0)
    assert program.bound.donated(captured.options) == (True,)


def update(x, state, *, key=None):
    return x + 1, state + 1


@pytest.mark.parametrize(
    ("arguments", "given", "donated"),
    [
        ((jnp.ones(4), jnp.ones(3)), {}, (False, True)),
        ((jnp.ones(4),), {"state": jnp.ones(3)}, (False, True)),
        ((jnp.ones(4), jnp.ones(3)), {"key": jnp.ones(2)}, (False, True, True)),
    ],
)
def test_what_is_donated_by_name_is_donated_by_place_too(arguments, given, donated):
    options = JitOptions(donate_argnames=("state", "key"))
    captured = capture(update, *arguments, options=options, **given)
    program = staged(captured)
    assert program.bound.donated(program.version.options) == donated
    assert program.compiled.memory_analysis().alias_size_in_bytes == 12  # the state's


def test_the_stages_as_text():
    program = staged(capture(lambda x: jnp.tanh(x), jnp.ones(4)))
    assert "tanh" in program.text("jaxpr")
    assert "stablehlo.tanh" in program.text("stablehlo")
    assert program.text("hlo").startswith("HloModule")
    assert set(program.seconds) == {"trace", "lower", "compile"}
    with pytest.raises(ValueError, match="use jaxpr"):
        program.text("assembly")


def test_errors_are_one_line_and_name_the_stage():
    def branch(x):
        return 1 if x > 0 else 2

    with pytest.raises(StagingError) as caught:
        staged(capture(branch, jnp.ones(()))).text("jaxpr")
    assert str(caught.value).startswith("could not trace: TracerBoolConversionError")
    assert "\n" not in str(caught.value)


def test_leaves_are_named_by_argument():
    leaves = function_versions.bind(capture(lambda p, n: p, {"w": [jnp.ones(2)]}, n=jnp.ones(1))).leaves
    assert [(leaf.path, leaf.argument) for leaf in leaves] == [("args[0]['w'][0]", 0), ("kwargs['n']", "n")]
