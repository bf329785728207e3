"""The dtypes of layers' results, as `inspect --arrays` says them, beside those that JAX computes."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import haiku as hk
import jax
import jax.numpy as jnp
import pytest
from flax import linen, nnx

from jaxlint.jaxapi.layer_classes import UNASKED_DTYPES
from jaxlint.source.read import read_source
from jaxlint.staging.inspection.arrays import inspect_arrays, short_dtype

DTYPES = ("float32", "bfloat16", "float16")
MAKERS = {
    "Dense": "{0}Dense(5{1})", "Linear": "{0}Linear(4, 5{1})", "Conv": "{0}Conv(5, (3,){1})", "Dropout": "{0}Dropout(0.5)",
    "GroupNorm": "{0}GroupNorm(num_groups=2{1})", "Embed": "{0}Embed(10, 5{1})", "Embedding": "{0}Embedding(10, 5{1})",
    "MLP": "{0}MLP(4, 5, 8, 2{1})",
}  # fmt: skip
# What the libraries ask for in other ways.
OTHER = {
    "flax.linen.BatchNorm": "linen.BatchNorm(use_running_average=True{1})",
    "flax.linen.Dropout": "linen.Dropout(0.5, deterministic=True)",
    "flax.nnx.Conv": "nnx.Conv(4, 5, (3,){1})",
    "flax.nnx.GroupNorm": "nnx.GroupNorm(4, num_groups=2{1})",
    "flax.nnx.Dropout": "nnx.Dropout(0.5, deterministic=True{1})",
    "flax.nnx.PReLU": "nnx.PReLU()",
    "equinox.nn.Identity": "eqx.nn.Identity()",
    "equinox.nn.Dropout": "eqx.nn.Dropout(0.5, inference=True)",
    "haiku.Linear": "hk.Linear(5)",
    "haiku.Conv2D": "hk.Conv2D(5, 3)",
    "haiku.LayerNorm": "hk.LayerNorm(-1, True, True)",
    "haiku.RMSNorm": "hk.RMSNorm(-1)",
    "haiku.BatchNorm": "hk.BatchNorm(True, True, 0.9)",
    "haiku.GroupNorm": "hk.GroupNorm(2)",
    "flax.linen.DenseGeneral": "linen.DenseGeneral(5)",
    "flax.linen.ConvTranspose": "linen.ConvTranspose(5, (3,))",
    "flax.linen.MultiHeadAttention": "linen.MultiHeadAttention(2)",
    "flax.linen.MultiHeadDotProductAttention": "linen.MultiHeadDotProductAttention(2)",
    "flax.linen.SelfAttention": "linen.SelfAttention(2)",
    "flax.nnx.LinearGeneral": "nnx.LinearGeneral(4, 5{1})",
    "flax.nnx.ConvTranspose": "nnx.ConvTranspose(4, 5, (3,){1})",
    "flax.nnx.MultiHeadAttention": "nnx.MultiHeadAttention(2, 4, decode=False{1})",
    "haiku.Flatten": "hk.Flatten()",
    "haiku.nets.MLP": "hk.nets.MLP([5])",
}
PREFIXES = {"flax.linen.": "linen.", "flax.nnx.": "nnx.", "equinox.nn.": "eqx.nn.", "haiku.": "hk."}
EXTRA = {"flax.nnx.": ", rngs=nnx.Rngs(0)", "equinox.nn.": ", key=jax.random.key(0)"}
HEAD = "import equinox as eqx\nimport haiku as hk\nimport jax\nimport jax.numpy as jnp\nfrom flax import linen, nnx\n\n"


def layer_of(name: str) -> str:
    """The source of a layer of this class."""
    library = next(prefix for prefix in PREFIXES if name.startswith(prefix))
    last = name.rpartition(".")[2]
    takes = last not in ("LayerNorm", "RMSNorm", "BatchNorm", "InstanceNorm", "PReLU")
    if name not in OTHER and not takes:
        first = "4" if library in ("flax.nnx.", "equinox.nn.") else ""
        extra = EXTRA.get(library, "") if library == "flax.nnx." else ""
        return f"{PREFIXES[library]}{last}({first}{extra if first else extra.lstrip(', ')})"
    return OTHER.get(name, MAKERS.get(last, "")).format(PREFIXES[library], EXTRA.get(library, ""))


def inputs_of(name: str) -> list[str]:
    if UNASKED_DTYPES[name] == "weights":
        shape = "()" if name.startswith("equinox.") else "(2, 3)"
        return [f'jnp.zeros({shape}, "int32")']
    shape = "(4,)" if name.startswith("equinox.") else "(2, 8, 8, 4)" if "2D" in name else "(2, 8, 4)"
    return [f'jnp.ones({shape}, "{dtype}")' for dtype in DTYPES]


def computed(name: str, layer: str, given: str) -> str:
    """The dtype that JAX computes."""
    scope: dict[str, Any] = {"eqx": eqx, "hk": hk, "jax": jax, "jnp": jnp, "linen": linen, "nnx": nnx}
    x = eval(given, scope)
    key = jax.random.key(0)

    def run() -> Any:
        if name.startswith("haiku."):
            more = (True,) if "BatchNorm" in name else ()
            f: Any = hk.transform_with_state(lambda v: eval(layer, scope)(v, *more))
            return f.apply(*f.init(key, x), key, x)[0]
        made = eval(layer, scope)
        return made.init_with_output({"params": key}, x)[0] if name.startswith("flax.linen.") else made(x)

    return str(jax.eval_shape(run).dtype)


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What is said of each result, in one program."""
    lines, names = [HEAD], {}
    for name in UNASKED_DTYPES:
        for number, given in enumerate(inputs_of(name)):
            variable = f"{name.replace('.', '_')}_{number}"
            names[variable] = f"{name}({given})"
            lines.append(f"{variable} = ({layer_of(name)})({given})\n")
    path = tmp_path_factory.mktemp("layers") / "program.py"
    path.write_text("".join(lines))
    facts, analysis = inspect_arrays([read_source(path, "program.py")])
    assert not analysis.errors
    return {names[fact.name]: fact.dtype for fact in facts}


@pytest.mark.parametrize("name", UNASKED_DTYPES)
def test_the_dtype_is_what_jax_computes(name: str, said: dict[str, str]) -> None:
    for given in inputs_of(name):
        found = computed(name, layer_of(name), given)
        assert short_dtype(said[f"{name}({given})"]) == short_dtype(found), given
