"""removed-api and deprecated-api: what they report on whole programs, and what their fixes make of them."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest

from jaxlint.finding import Finding, Severity
from jaxlint.fixes import FixResult, fix_sources
from jaxlint.jaxapi.history import Target, all_changes
from jaxlint.source import source_from_bytes
from jaxlint.staging import analyze
from jaxlint_rules.migration.changed_signature import ChangedSignature
from jaxlint_rules.migration.deprecated_api import DeprecatedApi
from jaxlint_rules.migration.removed_api import RemovedApi
from tests.helpers.marks import read_marks

NAME = "program.py"


def check(text: str, target: str | None = None) -> list[Finding]:
    source = source_from_bytes(text.encode(), Path.cwd() / NAME, NAME)
    result = analyze([source], [RemovedApi(), DeprecatedApi(), ChangedSignature()], target_jax=target)
    assert not result.errors
    return sorted(result.findings, key=lambda finding: finding.sort_key)


def fix(text: str, target: str | None = None) -> FixResult:
    source = source_from_bytes(text.encode(), Path.cwd() / NAME, NAME)
    return fix_sources({NAME: source}, lambda sources: check(sources[NAME].text, target))


def found(text: str, target: str | None = None) -> list[tuple[str, int]]:
    return [(finding.code, finding.span.line) for finding in check(text, target)]


REPORTED = {
    "attribute": ("import jax\nx = jax.tree_map(f, y)\n", [("JAX901", 2)]),
    "alias of the package": ("import jax as j\nx = j.tree_map(f, y)\n", [("JAX901", 2)]),
    "alias of a module": ("import jax.numpy as np\nx = np.product(y)\n", [("JAX901", 2)]),
    "import, not its uses": ("from jax import tree_map\nx = tree_map(f, tree_map(g, y))\n", [("JAX901", 1)]),
    "import under another name": ("from jax import tree_map as tm\nx = tm(f, y)\n", [("JAX901", 1)]),
    "each name of an import": (
        "from jax import (\n    jit,\n    tree_map,\n    tree_leaves,\n)\n",
        [("JAX901", 3), ("JAX901", 4)],
    ),
    "module, not what is in it": (
        "from jax.experimental import host_callback as hcb\ndef f(x):\n    hcb.stop_outfeed_receiver(x)\n",
        [("JAX901", 1)],
    ),
    "what is in a module that went": (
        "import jax\nx = jax.experimental.maps.no_such_name(1)\n",
        [("JAX901", 2)],
    ),
    "use that can be rewritten, of an import that cannot": (
        "from jax.lib import xla_bridge\nn = xla_bridge.get_backend()\n",
        [("JAX901", 1), ("JAX901", 2)],
    ),
    "in a function that nobody calls": (
        "import jax\ndef f(x):\n    return jax.tree_map(g, x)\n",
        [("JAX901", 3)],
    ),
    "in a class": ("import jax\nclass A:\n    key: jax.random.KeyArray\n", [("JAX901", 3)]),
    "once for a chain": ("import jax\nn = jax.tree_map.__name__\n", [("JAX901", 2)]),
    "keyword": ("import jax.numpy as jnp\nx = jnp.clip(y, a_min=0)\n", [("JAX904", 2)]),
    "positional-only": ("import jax.numpy as jnp\nx = jnp.where(c, x=a, y=b)\n", [("JAX904", 2)]),
    "a variable that holds it": (
        "from jax.experimental import optimizers\ndef build(make):\n    return make(1)\nbuild(optimizers.adam)\n",
        [("JAX901", 1)],
    ),
    "flags": ("import jax\nx = jax.config.FLAGS.jax_enable_x64\n", [("JAX901", 2)]),
    "chex": ("import chex\nchex.assert_tree_all_close(a, b)\n", [("JAX901", 2)]),
    "flax, a module that went": ("from flax import optim\nx = optim.Adam()\n", [("JAX901", 1)]),
    "optax, moved": ("import optax\nx = optax.dpsgd(1)\n", [("JAX902", 2)]),
    "an option": ("import jax\njax.config.update('jax_array', True)\n", [("JAX901", 2)]),
    "chex, a keyword": ("import chex\nchex.assert_tree_is_on_host(x, ignore_nones=True)\n", [("JAX904", 2)]),
    "flax, an argument that is needed": ("import flax.linen as nn\nc = nn.LSTMCell()\n", [("JAX904", 2)]),
    "optax, what left its experiments": (
        "import optax\nc = optax.experimental.named_chain(x)\n",
        [("JAX901", 2)],
    ),
    "orbax, a module that went": (
        "from orbax.checkpoint.pytree_checkpointer import PyTreeCheckpointer\nc = PyTreeCheckpointer()\n",
        [("JAX901", 1)],
    ),
    "orbax, a context": (
        "import orbax.checkpoint as ocp\nwith ocp.checkpointer_context(h) as c:\n    pass\n",
        [("JAX901", 2)],
    ),
    "deprecated": ("from jax.experimental.shard_map import shard_map\n", [("JAX902", 1)]),
    "a shim whose other side went too": (
        "import jax\nxla = jax.interpreters.xla\nif hasattr(jax.interpreters.xla, '_DeviceArray'):\n"
        "    A = jax.interpreters.xla._DeviceArray\nelse:\n    A = jax.interpreters.xla.DeviceArray\n",
        [("JAX901", 6)],
    ),
    "warns when called": ("import jax\nn = jax.host_count()\n", [("JAX902", 2)]),
}
SILENT = {
    "the replacement": "import jax\nx = jax.tree.map(f, y)\n",
    "another package of that name": "import dm_tree as jax\nx = jax.tree_map(f, y)\n",
    "a parameter of that name": "import jax\ndef f(jax):\n    return jax.tree_map\n",
    "a method of that name": "import jax\nclass A:\n    def tree_map(self): ...\nA().tree_map()\n",
    "only recommended against": "import jax\nkey = jax.random.PRNGKey(0)\nf = jax.pmap(g)\n",
    "keyword given by position": "import jax.numpy as jnp\nx = jnp.clip(y, 0, 1)\nz = jnp.where(c, a, b)\n",
    "method with an old keyword": "import numpy as np\nx = np.clip(y, a_min=0, a_max=1)\n",
    "guarded by try": (
        "try:\n    from jax import tree_map\nexcept ImportError:\n    from jax.tree_util import tree_map\n"
        "x = tree_map(f, y)\n"
    ),
    "guarded by hasattr": "import jax\nif hasattr(jax, 'tree_map'):\n    m = jax.tree_map\nelse:\n    m = jax.tree.map\n",
    "guarded in the same expression": (
        "import jax\ndef f(x):\n    return hasattr(jax, 'xla') and isinstance(x, jax.xla.DeviceArray)\n"
    ),
    "flax, with the argument": "import flax.linen as nn\nc = nn.LSTMCell(3), nn.GRUCell(features=4), nn.LSTMCell(*a)\n",
    "there again under that name": "import jax\nx = jax.ad\n",
}


@pytest.mark.parametrize(("text", "expected"), REPORTED.values(), ids=REPORTED)
def test_reports(text, expected):
    assert found(text) == expected


@pytest.mark.parametrize("text", SILENT.values(), ids=SILENT)
def test_stays_silent(text):
    assert found(text) == []


@pytest.mark.parametrize("rule", [RemovedApi, DeprecatedApi, ChangedSignature])
def test_examples(rule):
    for example in rule.examples:
        marked = read_marks(example.code, example.name)
        assert [finding.span.line for finding in check(marked.plain)] == sorted(marked.lines()), example.name
        assert fix(marked.plain).texts.get(NAME) == example.fixed, example.name


# The analysis takes this one for a constant that is still there.
_MOST_USED = [
    pytest.param(change, id=change.name)
    for change in [change for change in all_changes() if change.form in ("name", "module")][:60]
]


@pytest.mark.parametrize("change", _MOST_USED)
def test_the_most_used_rows(change):
    """Each is reported by its whole name when the target lacks it, never when it is only a recommendation."""
    module, _, leaf = change.name.rpartition(".")
    expected = []
    target = Target.of(None)
    if target.lacks(change):
        expected = [("JAX901", 1)]
    elif change.kind == "deprecated" and change.replacement:
        expected = [("JAX902", 1)]
    assert found(f"from {module} import {leaf}\n") == expected


def test_messages_say_since_when_and_what_instead():
    finding = check("import jax\nx = jax.tree_map(f, y)\n")[0]
    assert finding.severity is Severity.ERROR
    assert finding.message == "`jax.tree_map` was removed in jax 0.6.0; use `jax.tree.map`"
    assert "deprecated since jax 0.4.26" in finding.reason
    assert "0.12.0.1" in finding.reason
    keyword = check("import jax.numpy as jnp\nx = jnp.clip(y, a_max=1, a_min=0)\n")[0]
    assert keyword.message == (
        "`jax.numpy.clip` raises TypeError for `a_max`, `a_min` since jax 0.10.0; use `max` and `min`"
    )


def test_the_target_decides():
    text = "import jax\nx = jax.tree_map(f, y)\n"
    assert found(text, "0.10.2") == [("JAX901", 2)]
    assert found(text, ">=0.4.30") == [("JAX901", 2)]
    assert found(text, "0.4.30") == [("JAX902", 2)]
    assert found(text, "0.4.20") == []
    assert fix(text, ">=0.4.10").texts[NAME] == "import jax\nx = jax.tree_util.tree_map(f, y)\n"
    shard = "from jax.experimental.shard_map import shard_map\n"
    assert found(shard, ">=0.5") == []  # jax.shard_map is not in all of these


def test_no_rewrite_to_what_is_gone_too():
    text = "import jax\njax.xla.translations[0] = 1\n"
    assert [finding.fix for finding in check(text)] == [None]


def test_with_a_mesh():
    text = (
        "import jax\nimport numpy as np\nfrom jax.sharding import Mesh\nmesh = Mesh(np.array(jax.devices()), ('x',))\n"
        "other = jax.make_mesh((1, 1), ('x', 'y'))\nwith mesh:\n    pass\nwith other:\n    pass\n"
        "with jax.set_mesh(mesh), open('x'):\n    pass\n"
    )
    assert found(text) == [("JAX902", 6), ("JAX902", 8)]
    assert found(text, "0.8.0") == []
    source = source_from_bytes(text.encode(), Path.cwd() / NAME, NAME)
    fixed = fix_sources({NAME: source}, lambda sources: check(sources[NAME].text), unsafe=True).texts[NAME]
    assert "with jax.set_mesh(mesh):\n" in fixed
    assert "with jax.set_mesh(other):\n" in fixed
    assert "jax.make_mesh((1, 1), ('x', 'y'), axis_types=(jax.sharding.AxisType.Auto,) * 2)" in fixed


def test_neighbours_are_fixed_too():
    text = (
        "import chex\nimport optax\nfrom optax import additive_weight_decay\n"
        "chex.assert_tree_all_close(a, optax.hvp)\ntx = additive_weight_decay(0.1)\n"
    )
    assert fix(text).texts[NAME] == (
        "import chex\nimport optax\nfrom optax import add_decayed_weights\n"
        "chex.assert_trees_all_close(a, optax.second_order.hvp)\ntx = add_decayed_weights(0.1)\n"
    )


def test_one_run_fixes_a_whole_program():
    text = """\
from jax.experimental.stax import Dense, Relu, serial
from jax.lib import xla_bridge
from jax.ops import index_update
import jax
import jax.numpy as jnp

jax.config.FLAGS.jax_enable_x64


def step(x: jnp.DeviceArray, key: jax.random.KeyArray):
    x = index_update(x, jax.ops.index[0, :], 1.0)
    print(xla_bridge.get_backend().platform)
    return jnp.clip(jax.tree_multimap(jnp.add, x, x), a_min=0), serial(Dense(3), Relu)
"""
    result = fix(text)
    assert (
        result.texts[NAME]
        == """\
from jax.example_libraries.stax import Dense, Relu, serial
import jax
import jax.extend.backend
import jax.numpy as jnp

jax.config.jax_enable_x64


def step(x: jax.Array, key: jax.Array):
    x = x.at[0, :].set(1.0)
    print(jax.extend.backend.get_backend().platform)
    return jnp.clip(jax.tree.map(jnp.add, x, x), min=0), serial(Dense(3), Relu)
"""
    )
    assert result.remaining == []
    assert result.refused == []


def test_the_rewritten_program_computes_the_same():
    program = """\
import numpy as np
import jax
import jax.numpy as jnp
from functools import partial
from jax.experimental.shard_map import shard_map
from jax.sharding import Mesh, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()[:1]), ("x",))


@partial(shard_map, mesh=mesh, in_specs=P("x"), out_specs=P(), check_rep=False)
def total(values):
    return jax.lax.psum(values.sum(), "x")


halve = jax.jit(shard_map(lambda v: v / 2, mesh, P("x"), P("x")))
result = total(jnp.arange(4.0)), halve(jnp.arange(4.0))
"""
    fixed = fix(program)
    assert fixed.remaining == []
    before: dict[str, Any] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # JAX says it once per process
        exec(program, before)
    after: dict[str, Any] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)
        exec(fixed.texts[NAME], after)
    for old, new in zip(before["result"], after["result"], strict=True):
        assert old.tolist() == new.tolist()


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        (
            "    x = jax.tree_map(f, y)\n    with pytest.raises(ValueError):\n        jax.tree_leaves(x)\n",
            [3, 5],
        ),
        ("    with pytest.raises(AttributeError):\n        jax.tree_map(f, y)\n", []),
    ],
)
def test_what_tests_need_has_to_be_there_whatever_error_they_provoke(body, lines):
    text = f"import jax, pytest\ndef test_f():\n{body}"
    source = source_from_bytes(text.encode(), Path.cwd() / "test_it.py", "test_it.py")
    findings = analyze([source], [RemovedApi()]).findings
    assert sorted(finding.span.line for finding in findings) == lines


def test_a_mesh_is_left_entered_where_other_code_looks_for_it():
    text = (
        "import jax\nfrom jax.interpreters import pxla\nmesh = jax.sharding.Mesh(jax.devices(), ('x',))\nwith mesh:\n"
        "    print({})\n"
    )
    for body, kept in (("pxla.thread_resources.env.physical_mesh", True), ("pxla.no_name", False)):
        before = text.replace("{}", body)
        source = source_from_bytes(before.encode(), Path.cwd() / NAME, NAME)
        found = fix_sources({NAME: source}, lambda sources: check(sources[NAME].text), unsafe=True)
        assert ("with mesh:" in found.texts.get(NAME, before)) is kept


def test_a_mesh_is_left_entered_under_jit():
    text = "import jax\nmesh = jax.sharding.Mesh(jax.devices(), ('x',))\n@jax.jit\ndef f(x):\n    with mesh:\n        return x\n"
    assert found(text) == []


def test_a_name_that_other_files_import_from_here_stays_importable(tmp_path):
    texts = {
        "lib.py": "from jax.nn import normalize\nfrom jax.tree_util import tree_map, tree_multimap\n",
        "app.py": "from lib import normalize\nfrom lib import tree_map\n",
    }
    sources = {name: source_from_bytes(text.encode(), tmp_path / name, name) for name, text in texts.items()}

    def again(sources):
        return sorted(analyze(list(sources.values()), [RemovedApi()]).findings, key=lambda one: one.sort_key)

    result = fix_sources(sources, again)
    assert (
        result.texts["lib.py"]
        == "from jax.nn import standardize as normalize\nfrom jax.tree_util import tree_map\n"
    )


REWRITTEN = {
    "an index that is a tuple of one list": (
        "import jax\nx = jax.ops.index_update(y, jax.ops.index[[0, 1],], 0)\n",
        "x = y.at[[0, 1],].set(0)\n",
    ),
    "a class of a module that moved": (
        "import jax\nb = f(jax.xla.DeviceArray)\n",
        "import jax\nb = f(jax.Array)\n",
    ),
    "what cannot be made any more": (
        "import jax\nb = jax.pxla.ShardedDeviceArray(a, b)\n",
        "import jax\nb = jax.pxla.ShardedDeviceArray(a, b)\n",
    ),
}


@pytest.mark.parametrize(("old", "new"), REWRITTEN.values(), ids=REWRITTEN)
def test_rewritten(old, new):
    assert fix(old).texts.get(NAME, old).removeprefix("import jax\n") == new.removeprefix("import jax\n")


@pytest.mark.parametrize(
    ("call", "fixed"),
    [
        ("hcb.call(print, x)", "jax.experimental.io_callback(print, None, x)"),
        ("y = hcb.call(f, x, result_shape=x)", "y = jax.pure_callback(f, x, x)"),
    ],
)
def test_a_callback_may_have_no_result(call: str, fixed: str) -> None:
    text = f"import jax\nimport jax.experimental.host_callback as hcb\n{call}\n"
    source = source_from_bytes(text.encode(), Path.cwd() / NAME, NAME)
    result = fix_sources({NAME: source}, lambda sources: check(sources[NAME].text), unsafe=True)
    assert result.texts[NAME].splitlines()[-1] == fixed


def test_checkpoint_drops_concrete_where_it_may_be_false():
    text = "import jax\nf = jax.checkpoint(g, concrete={})\n"
    assert [finding.fix.safety.value for finding in check(text.format("False")) if finding.fix] == ["safe"]
    assert [finding.fix.safety.value for finding in check(text.format("flag")) if finding.fix] == ["unsafe"]
    assert fix(text.format("True")).texts.get(NAME, text.format("True")) == text.format("True")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("import jax\ndef f(key: jax.random.KeyArray):\n    pass\n", [Severity.ERROR]),
        ("FUTURE\nimport jax\ndef f(key: jax.random.KeyArray):\n    pass\n", [Severity.WARNING]),
        ("FUTURE\nimport jax\ndef f(*keys: list[jax.random.KeyArray]):\n    pass\n", [Severity.WARNING]),
        ("FUTURE\nimport jax\ndef f() -> jax.random.KeyArray:\n    pass\n", [Severity.WARNING]),
        ("FUTURE\nimport jax\nclass State:\n    key: jax.random.KeyArray\n", [Severity.WARNING]),
        ("FUTURE\nimport jax\ndef f(key=jax.random.KeyArray):\n    pass\n", [Severity.ERROR]),
        ("FUTURE\nimport jax\nKey = jax.random.KeyArray\ndef f(key: Key):\n    pass\n", [Severity.ERROR]),
        ("FUTURE\nfrom jax.random import KeyArray\ndef f(key: KeyArray):\n    pass\n", [Severity.ERROR]),
        (
            "import jax\ndef f(x):\n    key: jax.random.KeyArray = x\n    return key\nf(1)\n",
            [Severity.WARNING],
        ),
        ("import jax\nclass State:\n    key: jax.random.KeyArray\n", [Severity.ERROR]),
    ],
)
def test_an_annotation_that_python_does_not_evaluate_is_no_error(text: str, expected: list[Severity]) -> None:
    text = text.replace("FUTURE", "from __future__ import annotations")
    assert [finding.severity for finding in check(text)] == expected
