"""`rename-api` and `change-call`."""

from __future__ import annotations

import pytest

TREE_MAP = {"old": "jax.tree_map", "new": "jax.tree.map", "alternative": "jax.tree_util.tree_map"}
HOST_COUNT = {"old": "jax.host_count", "new": "jax.process_count"}
JAXPR = {"old": "jax.core.Jaxpr", "new": "jax.extend.core.Jaxpr", "module": "jax.extend.core"}
DEVICE_ARRAY = {"old": "jax.numpy.DeviceArray", "new": "jax.Array", "type_tests": False}
STAX = {
    "old": "jax.experimental.stax",
    "new": "jax.example_libraries.stax",
    "module": "jax.example_libraries.stax",
}
DENSE = {
    "old": "jax.experimental.stax.Dense",
    "new": "jax.example_libraries.stax.Dense",
    "module": "jax.example_libraries.stax",
}
SHARD_MAP = {
    "old": "jax.experimental.shard_map.shard_map",
    "new": "jax.shard_map",
    "call": {
        "parameters": ["f", "mesh", "in_specs", "out_specs", "check_rep", "auto"],
        "keep": 1,
        "rename": {"check_rep": "check_vma"},
        "refuse": {"auto": "auto is the complement of axis_names"},
    },
}
INDEX_UPDATE = {
    "old": "jax.ops.index_update",
    "new": "",
    "template": {
        "text": "{x}.at[{idx}].set({y})",
        "parameters": ["x", "idx", "y"],
        "index_helper": "jax.ops.index",
    },
}
NINF = {"old": "jax.numpy.NINF", "new": "jax.numpy.inf", "expression": "-{}"}
X64 = {"old": "jax.experimental.enable_x64", "new": "jax.enable_x64", "call": {"default": "True"}}
SHUFFLE = {
    "old": "jax.random.shuffle",
    "new": "jax.random.permutation",
    "call": {"add": {"independent": "True"}},
}

USES = {
    "attribute": (TREE_MAP, "import jax\ny = «jax.tree_map»(f, x)\n", "import jax\ny = jax.tree.map(f, x)\n"),
    "alias of the package": (
        TREE_MAP,
        "import jax as j\ny = «j.tree_map»(f, x)\n",
        "import jax as j\ny = j.tree.map(f, x)\n",
    ),
    "import in a function": (
        TREE_MAP,
        "def g(x):\n    import jax\n    return «jax.tree_map»(f, x)\n",
        "def g(x):\n    import jax\n    return jax.tree.map(f, x)\n",
    ),
    "the shortest name in the file": (
        {"old": "jax.ops.index", "new": "jax.numpy.s_"},
        "import jax\nimport jax.numpy as np\ni = jax.jit(f)(«jax.ops.index»[0])\n",
        "import jax\nimport jax.numpy as np\ni = jax.jit(f)(np.s_[0])\n",
    ),
    "another module, imported already": (
        DEVICE_ARRAY,
        "import jax\nimport jax.numpy as jnp\ndef f(x: «jnp.DeviceArray»): return jnp.sin(x)\n",
        "import jax\nimport jax.numpy as jnp\ndef f(x: jax.Array): return jnp.sin(x)\n",
    ),
    "another module, not imported": (
        DEVICE_ARRAY,
        "import os\n\nimport jax.numpy as jnp\nimport optax\n\ndef f(x: «jnp.DeviceArray»): return jnp.sin(x)\n",
        "import os\n\nimport jax\nimport jax.numpy as jnp\nimport optax\n\ndef f(x: jax.Array): return jnp.sin(x)\n",
    ),
    "another module, and the old import goes": (
        DEVICE_ARRAY,
        "import numpy as np\nimport jax.numpy as jnp\n\ndef f(x: «jnp.DeviceArray»): return np.sin(x)\n",
        "import jax\nimport numpy as np\n\ndef f(x: jax.Array): return np.sin(x)\n",
    ),
    "a submodule to import": (
        JAXPR,
        "import jax\nimport numpy\ndef f(x: «jax.core.Jaxpr»): ...\n",
        "import jax\nimport jax.extend.core\nimport numpy\ndef f(x: jax.extend.core.Jaxpr): ...\n",
    ),
    "a submodule imported already": (
        JAXPR,
        "import jax\nfrom jax.extend import core as jcore\nx: «jax.core.Jaxpr» = jcore.f(jax.jit)\n",
        "import jax\nfrom jax.extend import core as jcore\nx: jcore.Jaxpr = jcore.f(jax.jit)\n",
    ),
    "the module's import goes": (
        JAXPR,
        "from jax import core, jit\nx: «core.Jaxpr» = jit(f)\n",
        "import jax.extend.core\nfrom jax import jit\nx: jax.extend.core.Jaxpr = jit(f)\n",
    ),
    "several in one fix": (
        TREE_MAP,
        "import jax\ny = «jax.tree_map»(f, «jax.tree_map»(g, x))\n",
        "import jax\ny = jax.tree.map(f, jax.tree.map(g, x))\n",
    ),
    "value": (
        NINF,
        "import jax.numpy as jnp\nx = [«jnp.NINF»]\n",
        "import jax.numpy as jnp\nx = [-jnp.inf]\n",
    ),
    "value in a power": (
        NINF,
        "import jax.numpy as jnp\nx = «jnp.NINF» ** 2\n",
        "import jax.numpy as jnp\nx = (-jnp.inf) ** 2\n",
    ),
    "call without arguments": (
        X64,
        "import jax.experimental\nwith «jax.experimental.enable_x64»():\n    pass\n",
        "import jax.experimental\nwith jax.enable_x64(True):\n    pass\n",
    ),
    "call with its argument": (
        X64,
        "from jax import experimental\nwith «experimental.enable_x64»(False):\n    pass\n",
        "import jax\nwith jax.enable_x64(False):\n    pass\n",
    ),
    "argument added": (
        SHUFFLE,
        "import jax\ny = «jax.random.shuffle»(\n    key,\n    x,  # deck\n)\n",
        "import jax\ny = jax.random.permutation(\n    key,\n    x, independent=True,  # deck\n)\n",
    ),
    "template": (
        INDEX_UPDATE,
        "import jax\ny = «jax.ops.index_update»(a + b, jax.ops.index[0, 1:], y=f(c))\n",
        "y = (a + b).at[0, 1:].set(f(c))\n",
    ),
    "template in a template": (
        INDEX_UPDATE,
        "import jax\ny = «jax.ops.index_update»(«jax.ops.index_update»(x, 0, 1), 1, 2)\n",
        "y = x.at[0].set(1).at[1].set(2)\n",
    ),
}
IMPORTS = {
    "alone": (
        TREE_MAP,
        "from jax import «tree_map»\ny = tree_map(f, x)\n",
        "from jax.tree_util import tree_map\ny = tree_map(f, x)\n",
    ),
    "alone, with a comment": (
        TREE_MAP,
        "from jax import «tree_map»  # trees\ny = tree_map(f, x)\n",
        "from jax.tree_util import tree_map  # trees\ny = tree_map(f, x)\n",
    ),
    "among others": (
        TREE_MAP,
        "from jax import jit, «tree_map», vmap\ny = tree_map(f, x)\n",
        "from jax import jit, vmap\nfrom jax.tree_util import tree_map\ny = tree_map(f, x)\n",
    ),
    "among others, a line each": (
        TREE_MAP,
        "from jax import (\n    jit,\n    «tree_map»,\n    vmap,\n)\n",
        "from jax import (\n    jit,\n    vmap,\n)\nfrom jax.tree_util import tree_map\n",
    ),
    "in a function, a line each": (
        TREE_MAP,
        "def g():\n    from jax import (\n        jit,\n        «tree_map»,\n        vmap,\n    )\n",
        "def g():\n    from jax import (\n        jit,\n        vmap,\n    )\n    from jax.tree_util import tree_map\n",
    ),
    "into an import that is there": (
        TREE_MAP,
        "from jax import jit, «tree_map»\nfrom jax.tree_util import tree_leaves, tree_structure\n",
        "from jax import jit\nfrom jax.tree_util import tree_leaves, tree_map, tree_structure\n",
    ),
    "under another name": (
        TREE_MAP,
        "from jax import «tree_map as tm»\ny = tm(f, x)\n",
        "from jax.tree_util import tree_map as tm\ny = tm(f, x)\n",
    ),
    "new name in the same module, uses follow": (
        HOST_COUNT,
        "from jax import «host_count», jit\nn = host_count() + g(host_count)\n",
        "from jax import process_count, jit\nn = process_count() + g(process_count)\n",
    ),
    "new name is taken": (
        HOST_COUNT,
        "from jax import «host_count»\nprocess_count = 3\nn = host_count()\n",
        "from jax import process_count as host_count\nprocess_count = 3\nn = host_count()\n",
    ),
    "new name would hide a builtin": (
        {"old": "jax.tree_map", "new": "jax.tree.map"},
        "from jax import «tree_map»\ny = tree_map(f, x)\n",
        "from jax.tree import map as tree_map\ny = tree_map(f, x)\n",
    ),
    "new name is imported already": (
        {"old": "jax.tree_util.tree_multimap", "new": "jax.tree_util.tree_map"},
        "from jax.tree_util import «tree_multimap», tree_map\ny = tree_multimap(f, tree_map(g, x), x)\n",
        "from jax.tree_util import tree_map\ny = tree_map(f, tree_map(g, x), x)\n",
    ),
    "of two replacements the one that hides nothing": (
        {"old": "jax.tree_multimap", "new": "jax.tree.map", "alternative": "jax.tree_util.tree_map"},
        "from jax import tree_multimap\ny = tree_multimap(f, x, y)\n".replace(
            "tree_multimap\n", "«tree_multimap»\n"
        ),
        "from jax.tree_util import tree_map\ny = tree_map(f, x, y)\n",
    ),
    "another package": (
        {"old": "jax.experimental.optix", "new": "optax"},
        "from jax.experimental import «optix»\no = optix.adam(1)\n",
        "import optax as optix\no = optix.adam(1)\n",
    ),
    "public name stays": (
        HOST_COUNT,
        "from jax import «host_count»\n__all__ = ['host_count']\n",
        "from jax import process_count as host_count\n__all__ = ['host_count']\n",
    ),
    "module under a name": (
        STAX,
        "from jax.experimental import «stax»\nd = stax.Dense(3)\n",
        "from jax.example_libraries import stax\nd = stax.Dense(3)\n",
    ),
    "module by its whole name": (
        STAX,
        "import «jax.experimental.stax»\nd = jax.experimental.stax.Dense(3)\n",
        "import jax.example_libraries.stax\nd = jax.example_libraries.stax.Dense(3)\n",
    ),
    "module as": (
        STAX,
        "import «jax.experimental.stax as stax»\nd = stax.Dense(3)\n",
        "import jax.example_libraries.stax as stax\nd = stax.Dense(3)\n",
    ),
    "in a function": (
        DENSE,
        "def f():\n    from jax.experimental.stax import «Dense»\n    return Dense(3)\n",
        "def f():\n    from jax.example_libraries.stax import Dense\n    return Dense(3)\n",
    ),
    "after a semicolon": (
        TREE_MAP,
        "import os; from jax import jit, «tree_map»\n",
        "import os; from jax import jit; from jax.tree_util import tree_map\n",
    ),
    "calls follow": (
        SHARD_MAP,
        "from jax.experimental.shard_map import «shard_map»\n"
        "f = shard_map(g, mesh, P('x'),  # in\n              P(), check_rep=False)\n",
        "from jax import shard_map\n"
        "f = shard_map(g, mesh=mesh, in_specs=P('x'),  # in\n              out_specs=P(), check_vma=False)\n",
    ),
    "partials follow": (
        SHARD_MAP,
        "from functools import partial\nfrom jax.experimental.shard_map import «shard_map»\n"
        "@partial(shard_map, mesh=m, in_specs=P(), out_specs=P(), check_rep=True)\ndef f(x): ...\n",
        "from functools import partial\nfrom jax import shard_map\n"
        "@partial(shard_map, mesh=m, in_specs=P(), out_specs=P(), check_vma=True)\ndef f(x): ...\n",
    ),
    "expressions follow, and the import goes": (
        NINF,
        "import jax.numpy as jnp\nfrom jax.numpy import «NINF»\nx = jnp.maximum(x, NINF)\n",
        "import jax.numpy as jnp\nx = jnp.maximum(x, -jnp.inf)\n",
    ),
    "templates follow": (
        INDEX_UPDATE,
        "from jax.ops import «index_update», segment_sum\ny = index_update(x, 0, segment_sum(z, i))\n",
        "from jax.ops import segment_sum\ny = x.at[0].set(segment_sum(z, i))\n",
    ),
    "relative imports are other things": (
        SHARD_MAP,
        "from .utils import check\nfrom jax.experimental.shard_map import «shard_map»\nf = shard_map(check, m, P(), P())\n",
        "from .utils import check\nfrom jax import shard_map\nf = shard_map(check, mesh=m, in_specs=P(), out_specs=P())\n",
    ),
    "everything of a module": (
        STAX,
        "from jax.experimental.stax import «*»  # layers\nx = Dense(3)\n",
        "from jax.example_libraries.stax import *  # layers\nx = Dense(3)\n",
    ),
    "comments of other names": (
        TREE_MAP,
        "from jax import (\n    jit,  # compiles\n    «tree_map»,\n    vmap,  # maps\n)\nx = tree_map(f, y)\n",
        "from jax import (\n    jit,  # compiles\n    vmap,  # maps\n)\nfrom jax.tree_util import tree_map\nx = tree_map(f, y)\n",
    ),
    "unused": (
        {"old": "jax.mask", "unused": True},
        "from jax import jit, «mask»\nx = jit(f)\n",
        "from jax import jit\nx = jit(f)\n",
    ),
    "an unused module, whose package is used": (
        {"old": "jax.experimental.maps", "unused": True},
        "import «jax.experimental.maps»\nx = jax.jit(f)\n",
        "import jax\nx = jax.jit(f)\n",
    ),
    "a module that is an attribute now": (
        {"old": "jax.config", "is_attribute": True},
        "import «jax.config»\njax.config.update('jax_enable_x64', True)\n",
        "import jax\njax.config.update('jax_enable_x64', True)\n",
    ),
    "a module that is an attribute now, under another name": (
        {"old": "jax.config", "is_attribute": True},
        "import «jax.config as c»\nc.update('jax_enable_x64', True)\n",
        "from jax import config as c\nc.update('jax_enable_x64', True)\n",
    ),
    "line ends": (
        TREE_MAP,
        "from jax import jit, «tree_map»\r\nx = 1\r\n",
        "from jax import jit\r\nfrom jax.tree_util import tree_map\r\nx = 1\r\n",
    ),
}
REFUSALS = {
    "another name": (TREE_MAP, "import jax\ny = «jax.tree_leaves»(x)\n", "this is not jax.tree_map"),
    "not jax's": (TREE_MAP, "import dm_tree as jax\ny = «jax.tree_map»(x)\n", "this is not jax.tree_map"),
    "a parameter called jax": (TREE_MAP, "import jax\ndef f(jax): return «jax.tree_map»\n", "this is not"),
    "assigned": (TREE_MAP, "import jax\n«jax.tree_map» = f\n", "assigned or deleted"),
    "hidden at the place": (
        DEVICE_ARRAY,
        "import jax.numpy as jnp\ndef f(jax): return g(«jnp.DeviceArray»)\n",
        "a local name `jax` hides",
    ),
    "taken in the module": (
        DEVICE_ARRAY,
        "import jax.numpy as jnp\njax = 3\ny: «jnp.DeviceArray» = jnp.ones(jax)\n",
        "already uses the name `jax`",
    ),
    "type test": (
        DEVICE_ARRAY,
        "import jax\nimport jax.numpy as jnp\nb = isinstance(x, (int, «jnp.DeviceArray»))\n",
        "also accepts tracers",
    ),
    "type test of a test case": (
        DEVICE_ARRAY,
        "import jax\nimport jax.numpy as jnp\ncase.assertIsInstance(x, «jnp.DeviceArray»)\n",
        "also accepts tracers",
    ),
    "comment inside the import": (
        TREE_MAP,
        "from jax import (\n    jit,  # compile\n    «tree_map»,\n)\n",
        "comment inside",
    ),
    "bound twice": (
        TREE_MAP,
        "try:\n    from jax import «tree_map»\nexcept ImportError:\n    from jax.tree_util import tree_map\n",
        "several places",
    ),
    "function with other arguments handed on": (
        SHARD_MAP,
        "from jax.experimental.shard_map import «shard_map»\nf = wrap(shard_map)\n",
        "not called here",
    ),
    "function with other arguments made public": (
        SHARD_MAP,
        "from jax.experimental.shard_map import «shard_map»\n__all__ = ['shard_map']\n",
        "may be used from outside",
    ),
    "argument without a counterpart": (
        SHARD_MAP,
        "from jax.experimental.shard_map import «shard_map»\nf = shard_map(g, m, i, o, auto=a)\n",
        "complement",
    ),
    "unpacked arguments": (
        SHARD_MAP,
        "from jax.experimental.shard_map import «shard_map»\nf = shard_map(*args)\n",
        "unpacks unknown arguments",
    ),
    "template with unknown arguments": (
        INDEX_UPDATE,
        "import jax\ny = «jax.ops.index_update»(x, 0, 1, True)\n",
        "does not know",
    ),
    "template in another order": (
        INDEX_UPDATE,
        "import jax\ny = «jax.ops.index_update»(y=1, x=x, idx=0)\n",
        "another order",
    ),
    "template with a comment between": (
        INDEX_UPDATE,
        "import jax\ny = «jax.ops.index_update»(x,  # old\n    0, 1)\n",
        "comment",
    ),
    "a name that the file sets": (
        HOST_COUNT,
        "import jax\njax.host_count = lambda: 9\nprint(«jax.host_count»())\n",
        "this file replaces jax.host_count itself",
    ),
    "a name that a test patches": (
        HOST_COUNT,
        "import jax\nwith mock.patch('jax.host_count', f):\n    print(«jax.host_count»())\n",
        "this file replaces jax.host_count itself",
    ),
    "a name that is set by name": (
        HOST_COUNT,
        "import jax\nfrom jax import «host_count»\nmonkeypatch.setattr(jax, 'host_count', f)\nhost_count()\n",
        "this file replaces jax.host_count itself",
    ),
    "relative import": (TREE_MAP, "from .jax import «tree_map»\n", "does not import jax.tree_map"),
}


@pytest.mark.parametrize(("parameters", "before", "after"), USES.values(), ids=USES)
def test_rewrites_uses(rewrite, parameters, before, after):
    assert rewrite("rename-api", before, **parameters) == after


@pytest.mark.parametrize(("parameters", "before", "after"), IMPORTS.values(), ids=IMPORTS)
def test_rewrites_imports(rewrite, parameters, before, after):
    assert rewrite("rename-api", before, **parameters) == after


@pytest.mark.parametrize(("parameters", "before", "reason"), REFUSALS.values(), ids=REFUSALS)
def test_leaves_alone(rewrite, parameters, before, reason):
    answer = rewrite("rename-api", before, **parameters)
    assert answer.startswith("refused: ")
    assert reason in answer


def test_package_interfaces_keep_their_names(rewrite):
    before = "from jax import «host_count»\n"
    assert rewrite("rename-api", before, path="lib/__init__.py", **HOST_COUNT) == (
        "from jax import process_count as host_count\n"
    )


CALLS = {
    "keywords renamed": (
        {"rename": {"a_min": "min", "a_max": "max"}},
        "y = «jnp.clip(x, a_min=0, a_max=1)»\n",
        "y = jnp.clip(x, min=0, max=1)\n",
    ),
    "in a partial": (
        {"rename": {"a_min": "min"}},
        "relu = «partial(jnp.clip, a_min=0)»\n",
        "relu = partial(jnp.clip, min=0)\n",
    ),
    "by position": (
        {"parameters": ["a", "b"], "positional": ["a", "b"]},
        "y = «jnp.clip(a=(x), b=2)»\n",
        "y = jnp.clip((x), 2)\n",
    ),
    "dropped at the end": ({"drop": ["b"]}, "y = «jnp.clip(x, b=2,)»\n", "y = jnp.clip(x,)\n"),
    "dropped in front": ({"drop": ["b"]}, "y = «jnp.clip(b=2, c=3)»\n", "y = jnp.clip(c=3)\n"),
    "dropped alone": ({"drop": ["b"]}, "y = «jnp.clip(b=2)»\n", "y = jnp.clip()\n"),
}
BAD_CALLS = {
    "out of order": ({"parameters": ["a", "b"], "positional": ["b"]}, "«jnp.clip(b=2)»\n", "out of order"),
    "after a keyword": (
        {"parameters": ["a", "b"], "positional": ["b"]},
        "«jnp.clip(c=1, b=2)»\n",
        "after a keyword",
    ),
    "comment lost": ({"drop": ["b"]}, "«jnp.clip(a,  # first\n    b=2)»\n", "comment"),
    "another function": ({}, "«jnp.sin(x)»\n", "not a call of jax.numpy.clip"),
}
_HEAD = "from functools import partial\nimport jax.numpy as jnp\n"


@pytest.mark.parametrize(("change", "before", "after"), CALLS.values(), ids=CALLS)
def test_changes_calls(rewrite, change, before, after):
    assert rewrite("change-call", _HEAD + before, callee="jax.numpy.clip", call=change) == _HEAD + after


@pytest.mark.parametrize(("change", "before", "reason"), BAD_CALLS.values(), ids=BAD_CALLS)
def test_leaves_calls_alone(rewrite, change, before, reason):
    answer = rewrite("change-call", _HEAD + before, callee="jax.numpy.clip", call=change)
    assert answer.startswith("refused: ")
    assert reason in answer
