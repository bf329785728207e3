"""Calls that prepare a program operation by operation: which are found in a run, and how they are compiled as a whole."""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path
from typing import Any

import jax
import pytest

from jaxlint.source import read_source
from jaxlint_runtime.capture.function_identity import Project
from jaxlint_runtime.capture.recorder import Recorder
from jaxlint_runtime.capture.session import HostSyncs
from jaxlint_runtime.capture.stop import Stopper
from jaxlint_runtime.rewrites.setup_calls import from_eager_calls
from jaxlint_runtime.rewrites.tried_edit import edited

PROGRAM = """
import jax
import jax.numpy as jnp

SIZES = (211, 223)

def layer(key, size):
    return jax.random.normal(key, (size, 3)) * 0.1 + 0.5 ** jnp.arange(size)[:, None]

def init(key, sizes, scale):
    return [scale * layer(key, size) for size in sizes]

def single(x):
    return jnp.sin(x)

def prints(x):
    y = jnp.cos(x) + jnp.arange(227) / 3
    return float(jnp.sum(jnp.tanh(y) ** 2))

class Model:
    def __init__(self, key):
        self.w = init(key, (239, 241), scale=2.0)
        self.b = jnp.zeros(251) + 1

def main():
    key = jax.random.PRNGKey(0)
    ws = init(key, SIZES, scale=0.5)
    Model(key)
    single(ws[0])
    total = prints(ws[0][:, 0].sum())
    for _ in range(3):
        total += step(ws[1]).sum() + jnp.exp(jnp.arange(229.0)).mean() * 2
    return ws, total

result = main()
"""


@pytest.fixture(scope="module")
def calls(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """What a run of the program shows."""
    path = tmp_path_factory.mktemp("project").resolve() / "program.py"
    path.write_text(textwrap.dedent(PROGRAM))
    recorder = Recorder(Project([path.parent]), Stopper(), None, 2**20)
    syncs = HostSyncs(
        Project([path.parent]), lambda: not recorder.busy(), lambda: False, recorder.eager_calls.is_program
    )
    recorder.start()
    syncs.install(jax)

    def step(w: Any) -> Any:
        return w * 2

    try:
        wrapped = recorder.wrap(jax.jit(step), exec_in(path, step), {}, sys._getframe())
        exec(compile(path.read_text(), str(path), "exec"), {"step": wrapped, "__name__": "program"})
    finally:
        syncs.remove()
        recorder.stop()
    return [call.as_json() for call in recorder.eager_calls.found()]


def exec_in(path: Path, function: Any) -> Any:
    """The function as if it stood in the file."""
    return type(function)(function.__code__.replace(co_filename=str(path)), function.__globals__)


def test_what_prepares_is_found_and_what_runs_the_program_is_not(calls: list[dict[str, Any]]) -> None:
    call, model = outermost(
        calls
    )  # not main and prints, where the host waits, nor single, which compiles one operation
    assert model["line"] == PROGRAM.splitlines().index("    Model(key)") + 1
    assert (call["function"], call["line"]) == (
        "main",
        PROGRAM.splitlines().index("    ws = init(key, SIZES, scale=0.5)") + 1,
    )
    assert call["compiles"] >= 4
    assert call["plain"]["SIZES"] == "static"
    assert "key" not in call["plain"]


def test_it_is_jitted_where_it_is_called_with_what_cannot_be_traced_static(
    calls: list[dict[str, Any]],
) -> None:
    call = dict(outermost(calls)[0], seconds=1.0)
    path = call["path"]
    sources = {path: read_source(Path(path))}
    (rewrite,) = from_eager_calls([call], sources, [], ())
    assert (rewrite.name, rewrite.function, rewrite.instead) == ("jit-call:init", "main", None)
    changed = edited(rewrite.fixes, sources)
    assert isinstance(changed, dict)
    assert (
        'ws = jax.jit(init, static_argnums=1, static_argnames="scale")(key, SIZES, scale=0.5)\n'
        in changed[path].text
    )
    assert not from_eager_calls([dict(call, seconds=0.01)], sources, [], ())
    assert not from_eager_calls([call], sources, [], {"init"})  # another edit compiles it
    works = [{"function": "init", "calls": 1, "seconds": 60.0}]
    assert not from_eager_calls([call], sources, works, ())
    assert not from_eager_calls([dict(call, plain={"SIZES": "unhashable"})], sources, [], ())
    assert not from_eager_calls([dict(call, plain={**call["plain"], "init": "class"})], sources, [], ())


def outermost(calls: list[dict[str, Any]]) -> list[dict[str, Any]]:
    found = [one for one in calls if not one["within"]]
    return sorted(found, key=lambda one: one["line"])


def test_in_place_of_a_class_the_calls_in_its_constructor_are_jitted(calls: list[dict[str, Any]]) -> None:
    calls = [dict(one, seconds=1.0 / (1 + len(one["within"]))) for one in calls]
    sources = {calls[0]["path"]: read_source(Path(calls[0]["path"]))}
    found = from_eager_calls(sorted(calls, key=lambda one: -one["seconds"]), sources, [], ())
    # not `layer`, which `init` calls
    assert {(one.name, one.function) for one in found} == {
        ("jit-call:init", "main"),
        ("jit-call:init", "Model.__init__"),
    }


def test_functions_of_jax_are_called_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(
        "import jax\nimport jax.numpy as jnp\n\nw = jax.tree.map(jnp.zeros_like, params)\nv = init(params)\n"
    )
    entry = {"path": str(path), "function": "<module>", "plain": {}, "seconds": 1.0, "compiles": 9}
    sources = {str(path): read_source(path)}
    found = from_eager_calls(
        [{**entry, "line": 4, "place": [4, 4, 4, 40]}, {**entry, "line": 5, "place": [5, 5, 4, 16]}],
        sources,
        [],
        (),
    )
    assert [one.name for one in found] == ["jit-call:init"]


@pytest.mark.parametrize(
    ("argument", "jitted"),
    [
        ("optax.adam(0.1)", False),
        ("ox.chain(ox.clip(1.0), ox.sgd(0.1))", False),
        ("sgd(0.1)", False),
        ("optax.contrib.muon(0.1)", False),
        ("optax.l2_loss(params)", True),  # an array
        ("sgd_of(0.1)", True),
    ],
)
def test_a_call_that_is_given_an_optimiser_is_left_as_it_is(
    tmp_path: Path, argument: str, jitted: bool
) -> None:
    path = tmp_path / "program.py"
    path.write_text(
        f"import jax\nimport optax\nimport optax as ox\nfrom optax import sgd\n\nv = init(params, {argument})\n"
    )
    place = [6, 6, 4, 18 + len(argument)]
    call = {"path": str(path), "function": "<module>", "plain": {}, "seconds": 1.0, "compiles": 9}
    found = from_eager_calls([{**call, "place": place}], {str(path): read_source(path)}, [], ())
    assert len(found) == jitted


def test_several_in_one_function_are_tried_at_once_and_then_the_most_expensive(tmp_path: Path) -> None:
    path = tmp_path.resolve() / "train.py"
    path.write_text(
        "from flax import nnx\n"
        "import optax\n"
        "class Model(nnx.Module):\n"
        "    def __init__(self, rngs):\n"
        "        self.dense = nnx.Linear(2, 3, rngs=rngs)\n"
        "optimizer = optax.sgd(0.1)\n"
        "model = Model(rngs)\n"
        "state = optimizer.init(model)\n"
        "for x in data:\n"
        "    init(x)\n"
    )
    sources = {str(path): read_source(path)}
    places = [[7, 7, 8, 19], [8, 8, 8, 29], [10, 10, 4, 11]]
    found = [
        {"path": str(path), "function": "<module>", "place": place, "plain": {}, "seconds": 3.0 - n}
        for n, place in enumerate(places)
    ]
    (rewrite,) = from_eager_calls(found, sources, [], ())  # what is called in a loop is no preparation
    assert rewrite.name == "jit-call:Model, optimizer.init"
    assert rewrite.instead is not None
    assert rewrite.instead.name == "jit-call:Model"
    changed = edited(rewrite.instead.fixes, sources)
    assert isinstance(changed, dict)
    assert "model = nnx.jit(Model)(rngs)\nstate = optimizer.init(model)\n" in changed[str(path)].text


@pytest.mark.parametrize(
    ("init", "reason"),
    [
        ("self.dense = nnx.Linear(2, 3, rngs=rngs)", ""),
        ("self.norm = nnx.BatchNorm(3, rngs=rngs); self.scale = nnx.Param(rngs.params())", ""),
        ("print('made'); self.dense = nnx.Linear(2, 3, rngs=rngs)", "print('made')"),
        ("self.dense = nnx.Linear(2, 3, rngs=RNGS)", "may change `RNGS`"),
        ("self.scale = nnx.Param(RNGS.params())", "RNGS.params()"),
        ("MADE.append(self); self.dense = nnx.Linear(2, 3, rngs=rngs)", "MADE.append(self)"),
    ],
)
def test_a_model_of_nnx_is_made_under_jit_where_making_it_does_nothing_else(
    tmp_path: Path, init: str, reason: str
) -> None:
    path = tmp_path.resolve() / "train.py"
    path.write_text(
        "from flax import nnx\n\nRNGS = nnx.Rngs(1)\nMADE = []\n\nclass Model(nnx.Module):\n"
        f"    def __init__(self, rngs):\n        {init}\n\nmodel = Model(nnx.Rngs(0))\n"
    )
    sources = {str(path): read_source(path)}
    found = [
        {"path": str(path), "function": "<module>", "place": [10, 10, 8, 26], "plain": {}, "seconds": 3.0}
    ]
    (rewrite,) = from_eager_calls(found, sources, [], ())
    changed = edited(rewrite.fixes, sources)
    if reason:
        assert isinstance(changed, str)
        assert reason in changed
    else:
        assert isinstance(changed, dict)
        assert "model = nnx.jit(Model)(nnx.Rngs(0))\n" in changed[str(path)].text


def test_numbers_that_an_optimiser_keeps_are_static_and_alone_they_are_traced(tmp_path: Path) -> None:
    """A traced learning rate in the optimiser that the call returns would leak."""
    path = tmp_path / "program.py"
    path.write_text(
        "import jax\nimport jax.numpy as jnp\ndef create(key, rate, steps, low):\n    return jax.random.normal(key) * rate\n"
        "def make(size, scale):\n    return scale * jnp.arange(size)\nkey = jax.random.key(0)\n"
        "state = create(key, 3e-3, 3 * 10, -1.5)\ntable = make(2, 0.5)\n"
    )
    call = {"path": str(path), "function": "<module>", "seconds": 1.0, "plain": {}}
    places = ((8, 8, 8, 39), (9, 9, 8, 20))
    calls = [{**call, "number": n, "line": place[0], "place": place} for n, place in enumerate(places)]
    sources = {str(path): read_source(path)}
    (rewrite,) = from_eager_calls(calls, sources, [], ())
    changed = edited(rewrite.fixes, sources)
    assert isinstance(changed, dict)
    text = changed[str(path)].text
    assert "state = jax.jit(create, static_argnums=(1, 2, 3))(key, 3e-3, 3 * 10, -1.5)\n" in text
    assert "table = jax.jit(make, static_argnums=0)(2, 0.5)\n" in text
