"""Methods and attributes that JAX's objects lost: reported where the class is known, and rewritten for the target."""

from __future__ import annotations

from pathlib import Path

import pytest

from jaxlint.fixes import fix_sources
from jaxlint.source import source_from_bytes
from jaxlint.staging import analyze
from jaxlint_rules.migration.changed_signature import ChangedSignature
from jaxlint_rules.migration.deprecated_api import DeprecatedApi
from jaxlint_rules.migration.removed_api import RemovedApi

NAME = "program.py"
HEAD = "import jax\nimport jax.numpy as jnp\nimport numpy as np\n"


def check(text, target=None):
    source = source_from_bytes(text.encode(), Path.cwd() / NAME, NAME)
    result = analyze([source], [RemovedApi(), DeprecatedApi(), ChangedSignature()], target_jax=target)
    assert not result.errors
    return sorted(result.findings, key=lambda finding: finding.sort_key)


def codes(text, target=None):
    return [finding.code for finding in check(HEAD + text, target)]


def fixed(text, target=None):
    source = source_from_bytes((HEAD + text).encode(), Path.cwd() / NAME, NAME)
    result = fix_sources({NAME: source}, lambda sources: check(sources[NAME].text, target))
    return result.texts.get(NAME, HEAD + text).removeprefix(HEAD)


REWRITTEN = {
    "the device": ("d = jnp.ones(2).device()\n", "d = next(iter(jnp.ones(2).devices()))\n"),
    "of a sum": ("y = (jnp.ones(2) + 1).to_py()\n", "y = np.asarray(jnp.ones(2) + 1)\n"),
    "with arguments": (
        "y = jnp.ones(4).split(2, axis=0)\n",
        "y = jnp.split(jnp.ones(4), 2, axis=0)\n",
    ),
    "the buffer": ("b = jnp.ones(2).device_buffer\n", "b = jnp.ones(2).addressable_data(0)\n"),
    "over lines": (
        "y = (\n    jnp.ones(2)\n    .block_host_until_ready()\n)\n",
        "y = (\n    jnp.ones(2)\n    .block_until_ready()\n)\n",
    ),
    "declared, and put on the device": (
        "def f(x: jnp.ndarray):\n    if isinstance(x, np.ndarray):\n        x = jax.device_put(x)\n    return x.device_buffer\n",
        "def f(x: jnp.ndarray):\n    if isinstance(x, np.ndarray):\n        x = jax.device_put(x)\n    return x.addressable_data(0)\n",
    ),
    "declared": (
        "def f(x: 'jax.Array'):\n    return x.to_py()\n",
        "def f(x: 'jax.Array'):\n    return np.asarray(x)\n",
    ),
    "in staged code": (
        "@jax.jit\ndef f(x):\n    y = x * 2\n    return y.tile((2, 1))\n",
        "@jax.jit\ndef f(x):\n    y = x * 2\n    return jnp.tile(y, (2, 1))\n",
    ),
    "of an abstract value": (
        "a = jnp.ones(2).aval.vma\n",
        "a = jnp.ones(2).aval.manual_axis_type.varying\n",
    ),
    "a dialect": (
        "t = jax.jit(jnp.sin).lower(jnp.ones(2)).compiler_ir(dialect='mhlo')\n",
        't = jax.jit(jnp.sin).lower(jnp.ones(2)).compiler_ir(dialect="stablehlo")\n',
    ),
    "layouts": (
        "f = jax.jit(jnp.sin).lower(jnp.ones(2)).compile().input_layouts\n",
        "f = jax.jit(jnp.sin).lower(jnp.ones(2)).compile().input_formats\n",
    ),
    "a keyword": ("y = jnp.ones(2).sort(kind='stable')\n", "y = jnp.ones(2).sort()\n"),
}
FLAX = (
    "import flax\nimport flax.linen as nn\n\n\nclass Net(nn.Module):\n    @nn.compact\n    def __call__(self, x):\n"
    "        return nn.Dense(3)(x)\n\n\nnet, key = Net(), jax.random.key(0)\n"
)
FLAX_REWRITTEN = {
    "pop": (
        "v = net.init(key, jnp.ones(4))\nrest, params = v.pop('params')\n",
        "v = net.init(key, jnp.ones(4))\nrest, params = flax.core.pop(v, 'params')\n",
    ),
    "unfreeze, of a part": (
        "p = jax.jit(net.init)(key, jnp.ones(4))['params'].unfreeze()\n",
        "p = flax.core.unfreeze(jax.jit(net.init)(key, jnp.ones(4))['params'])\n",
    ),
    "copy": (
        "y, v = net.init_with_output(key, jnp.ones(4))\nv = v.copy({'a': {}})\n",
        "y, v = net.init_with_output(key, jnp.ones(4))\nv = flax.core.copy(v, {'a': {}})\n",
    ),
    "a plain copy": (text := "v = net.init(key, jnp.ones(4)).copy()\n", text),
    "a plain pop": (text := "p = net.init(key, jnp.ones(4)).pop('params')\n", text),
    "another dict": (text := "d = dict(a=(1, 2))\na, b = d.pop('a')\n", text),
    "nothing known": (text := "def f(v):\n    a, b = v.pop('a')\n    return v.unfreeze(), a, b\n", text),
}


@pytest.mark.parametrize(("old", "new"), FLAX_REWRITTEN.values(), ids=FLAX_REWRITTEN)
def test_variables_of_flax_are_dicts(old, new):
    text = fixed(FLAX + old)
    assert text == FLAX + new
    if "def f" not in old:
        exec(compile(HEAD + text, NAME, "exec"), {"__name__": "program"})


SILENT = {
    "NumPy": "np.ones(2).device, np.ones(2).tile(2), np.ones(2).sort(kind='stable')\n",
    "text": "'a b'.split(' ')\n",
    "a class of one's own": "class A:\n    def to_py(self): ...\nA().to_py()\n",
    "nothing known": "def f(x):\n    return x.device(), x.split(2), x.to_py()\n",
    "another library": "import torch\ndef f(x: torch.Tensor):\n    return x.device(), torch.ones(2).tile(2)\n",
    "an array on one path": "def f(c):\n    x = jnp.ones(2) if c else np.ones(2)\n    return x.tile(2)\n",
    "declared and rebound": "def f(x: jnp.ndarray):\n    x = g(x)\n    return x.tile(2)\n",
    "what is there now": "x = jnp.ones(2)\nx.device, x.devices(), x.addressable_data(0)\n",
    "asked for": "x = jnp.ones(2)\nb = x.device_buffer if hasattr(x, 'device_buffer') else x\n",
    "caught": "x = jnp.ones(2)\ntry:\n    x.device_buffer\nexcept AttributeError:\n    pass\n",
    "another dialect": "t = jax.jit(jnp.sin).lower(jnp.ones(2)).compiler_ir('stablehlo')\n",
    "leaves of any kind": "def f(names):\n    return jax.tree.map(lambda name: name.split('.'), names)\n",
    "tracers have it": "@jax.jit\ndef f(x):\n    return jnp.sin(x).broadcast((2,))\n",
}


@pytest.mark.parametrize(("old", "new"), REWRITTEN.values(), ids=REWRITTEN)
def test_rewritten(old, new):
    assert fixed(old) == new


@pytest.mark.parametrize("text", SILENT.values(), ids=SILENT)
def test_silent(text):
    assert codes(text) == []


def test_the_target_decides():
    text = "d = jnp.ones(2).device()\n"
    assert codes(text, "0.4.20") == []
    assert codes(text, "0.4.23") == ["JAX902"]
    assert codes(text, ">=0.4.20") == ["JAX901"]
    assert fixed(text, ">=0.4.20") == "d = next(iter(jnp.ones(2).devices()))\n"
    assert fixed(text, ">=0.3.20") == text  # `devices` is younger


def test_no_rewrite_of_a_method_that_is_not_called_or_of_a_tracer():
    assert codes("f = jnp.ones(2).to_py\n") == ["JAX901"]
    assert fixed("f = jnp.ones(2).to_py\n") == "f = jnp.ones(2).to_py\n"
    text = "@jax.jit\ndef f(x):\n    return jnp.sin(x).to_py()\n"
    assert codes(text) == ["JAX901"]
    assert fixed(text) == text
