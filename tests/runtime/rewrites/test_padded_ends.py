"""Functions that compile for each length of an argument that a loop extends: what a run shows, and the padded program."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from pathlib import Path
from typing import Any

import jax
import pytest

from jaxlint.source import read_source
from jaxlint_runtime.capture.function_identity import Project
from jaxlint_runtime.capture.growing_ends import padded_end
from jaxlint_runtime.capture.recorder import Recorder
from jaxlint_runtime.capture.stop import Stopper
from jaxlint_runtime.rewrites.padded_ends import from_ends
from jaxlint_runtime.rewrites.tried_edit import edited

PROGRAM = """
import jax
import jax.numpy as jnp

TABLE = jnp.sin(jnp.arange(60.0).reshape(5, 12))
PLACES = jnp.cos(jnp.arange(240.0).reshape(20, 12))


def mix(x):
    scores = x @ x.swapaxes(1, 2)
    length = x.shape[1]
    causal = jnp.tril(jnp.ones((length, length), bool))
    return jax.nn.softmax(jnp.where(causal, scores, -jnp.inf)) @ x


def forward(weights, ids):
    x = TABLE[ids] + PLACES[: ids.shape[1]]
    return mix(x) * weights


forward_jit = jit(forward, forward)


def next_of(weights, ids):
    scores = forward_jit(weights, jnp.array(ids)[None])[0, -1]
    return int(jnp.argmax(scores)) % 5


def main():
    ids = [1, 3]
    for _ in range(9):
        ids.append(next_of(jnp.arange(12.0), ids))
    print(ids)


main()
"""


def run(path: Path, recorder: Recorder | None) -> str:
    plain = jax.jit

    def jit(jitted: Any, function: Any) -> Any:
        made = plain(jitted)
        return made if recorder is None else recorder.wrap(made, function, {}, sys._getframe(1))

    def decorator(function: Any) -> Any:
        ours = function.__module__ == "program"
        return jit(function, function) if ours and recorder is not None else plain(function)

    text = compile(path.read_text(), os.path.relpath(path), "exec")
    with contextlib.redirect_stdout(io.StringIO()) as out, pytest.MonkeyPatch.context() as patch:
        patch.setattr(jax, "jit", decorator)
        exec(text, {"__name__": "program", "jit": jit})
    return out.getvalue()


def seen(path: Path) -> list[dict[str, Any]]:
    """What a run shows of the functions that it jits."""
    recorder = Recorder(Project([path.parent]), Stopper(), None, 2**20)
    recorder.start()
    try:
        run(path, recorder)
    finally:
        recorder.stop()
    return [
        {
            "function": one.identity.qualname,
            "path": str(path),
            "line": one.identity.line,
            "compiles": [{"trace_s": 0.0, "lower_s": 0.0, "compile_s": 1.0}] * len(one.compiles),
            "ends": padded_end(one),
        }
        for one in recorder.records.values()
    ]


pytestmark = pytest.mark.skipif(sys.version_info < (3, 11), reason="no columns of calls")


def changed(*pairs: tuple[str, str]) -> str:
    text = PROGRAM
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new)
    return text


WRITTEN = {
    "an expression": ((), "forward_jit(weights, pad_end(ids_2, 1, 16))[0, ids_2.shape[1] - 1]"),
    "a variable": (
        (("    scores = forward_jit(weights, jnp.array(ids)[None])", "    row = jnp.array(ids)[None]\n    scores = forward_jit(weights, row)"),),
        "forward_jit(weights, pad_end(row, 1, 16))[0, row.shape[1] - 1]",
    ),
    "a result with a name": (
        (("    scores = forward_jit(weights, jnp.array(ids)[None])[0, -1]", "    row = jnp.array(ids)[None]\n    out = forward_jit(weights, row)\n    scores = out[:, -1][0]"),),
        "    scores = out[:, row.shape[1] - 1][0]",
    ),
    "a filter": (
        (("    return mix(x) * weights", "    return jnp.cumsum(x, axis=1) * weights"),),
        "pad_end(ids_2, 1, 16)",
    ),
    "another axis": (
        (("    return mix(x) * weights", "    return (mix(x) * weights).swapaxes(0, 1)"), ("[0, -1]", "[-1, 0]")),
        "[ids_2.shape[1] - 1, 0]",
    ),
}  # fmt: skip


INSIDE = PROGRAM.replace(
    """    return mix(x) * weights


forward_jit = jit(forward, forward)
""",
    """    return mix(x) * weights


@jax.jit
def next_scores(weights, ids):
    return forward(weights, ids)[0, -1]
""",
).replace("forward_jit(weights, jnp.array(ids)[None])[0, -1]", "next_scores(weights, jnp.array(ids)[None])")


@pytest.mark.parametrize(("pairs", "written"), WRITTEN.values(), ids=WRITTEN)
def test_the_written_program_prints_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pairs: tuple[tuple[str, str], ...], written: str
) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path.resolve() / "program.py"
    path.write_text(changed(*pairs))
    (one,) = seen(path)
    assert len(one["compiles"]) == 9
    sources = {str(path): read_source(path, str(path))}
    (rewrite,) = from_ends([one], sources)
    assert rewrite.estimate == 9.0
    new = edited(rewrite.fixes, sources)
    assert not isinstance(new, str)
    before = run(path, None)
    path.write_text(new[str(path)].text)
    assert written in path.read_text()
    assert run(path, None) == before
    (again,) = seen(path)
    assert (len(again["compiles"]), again["ends"]) == (1, None)


LEFT = {
    "what follows is read": (("-jnp.inf", "-0.1"),),
    "a mean over all": (("return mix(x) * weights", "return x - x.mean(axis=1, keepdims=True)"),),
    "from the end": (("return mix(x) * weights", "return jnp.flip(mix(x), 1)"),),
    "another argument differs": (("next_of(jnp.arange(12.0), ids)", "next_of(jnp.arange(12.0) * jnp.ones((len(ids), 1)), ids)"),),
    "few lengths": (("range(9)", "range(3)"),),
}  # fmt: skip


def test_a_table_of_positions_that_ends_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path.resolve() / "program.py"
    # the table has a row more than the calls of the run need
    path.write_text(changed(("reshape(20, 12)", "reshape(20, 12)[:10]"), ("range(9)", "range(8)")))
    (one,) = seen(path)
    assert (one["ends"]["multiple"], one["ends"]["at_most"]) == (9, True)
    sources = {str(path): read_source(path, str(path))}
    (rewrite,) = from_ends([one], sources)
    new = edited(rewrite.fixes, sources)
    assert not isinstance(new, str)
    before = run(path, None)
    text = new[str(path)].text
    path.write_text(text)
    assert "max(length - x.shape[axis], 0)" in text
    assert run(path, None) == before
    path.write_text(text.replace("range(8)", "range(9)"))  # the longest that the table allows
    assert run(path, None).startswith(before.rstrip("]\n"))


@pytest.mark.parametrize("pairs", LEFT.values(), ids=LEFT)
def test_what_a_run_does_not_show(tmp_path: Path, pairs: tuple[tuple[str, str], ...]) -> None:
    path = tmp_path.resolve() / "program.py"
    path.write_text(changed(*pairs))
    (one,) = seen(path)
    assert one["ends"] is None


REFUSED = {
    "another row": (("[0, -1]", "[0, 0]"),),
    "all rows": (("[0, -1]\n", "[0]\n"), ("int(jnp.argmax(scores))", "int(jnp.argmax(scores[-1]))")),
    "the result as a whole": (("[0, -1]\n    return", "\n    print(scores.shape)\n    scores = scores[0, -1]\n    return"),),
    "a call before it": (("scores = forward_jit(", "scores = len(str(ids)) * 0 + forward_jit("),),
    "an added axis": (("[0, -1]", "[None, 0, -1]"), ("argmax(scores)", "argmax(scores[0])")),
}  # fmt: skip


@pytest.mark.parametrize("pairs", REFUSED.values(), ids=REFUSED)
def test_calls_that_are_left_alone(tmp_path: Path, pairs: tuple[tuple[str, str], ...]) -> None:
    path = tmp_path.resolve() / "program.py"
    path.write_text(changed(*pairs))
    (one,) = seen(path)
    assert one["ends"] is not None
    assert from_ends([one], {str(path): read_source(path, str(path))}) == []


def of(program: str, *pairs: tuple[str, str]) -> str:
    for old, new in pairs:
        assert old in program
        program = program.replace(old, new)
    return program


@pytest.mark.parametrize(
    ("pairs", "written"),
    [
        ((), "next_scores(weights, pad_end(ids_2, 1, 16), last=ids_2.shape[1] - 1)"),
        ((("[0, -1]", "[:, -1]"), ("[None])\n", "[None])[0]\n")), "return forward(weights, ids)[:, last]"),
        ((("(weights, jnp.array(ids)[None])", "(\n        weights,\n        ids=jnp.array(ids)[None],\n    )"),), "last=ids_2.shape[1] - 1)"),
        ((("def next_scores(weights, ids):", "def next_scores(weights: jax.Array, ids: jax.Array) -> jax.Array:"),), "ids: jax.Array, last) -> jax.Array"),
    ],
)  # fmt: skip
def test_a_function_that_returns_the_last_row_receives_its_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pairs: tuple[tuple[str, str], ...], written: str
) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path.resolve() / "program.py"
    path.write_text(of(INSIDE, *pairs))
    (one,) = seen(path)
    assert len(one["compiles"]) == 9
    sources = {str(path): read_source(path, str(path))}
    (rewrite,) = from_ends([one], sources)
    new = edited(rewrite.fixes, sources)
    assert not isinstance(new, str)
    before = run(path, None)
    path.write_text(new[str(path)].text)
    assert written in path.read_text()
    assert run(path, None) == before
    (again,) = seen(path)
    assert (len(again["compiles"]), again["ends"]) == (1, None)


@pytest.mark.parametrize(
    "pairs",
    [
        (("[0, -1]", "[0, -2]"),),
        (("[0, -1]", "[0].sum(axis=0)"),),
        (("[0, -1]", "[0, -1:]"), ("argmax(scores)", "argmax(scores[0])")),
        (("main()\n", "print(next_scores(jnp.arange(12.0), jnp.array([[1, 2]]))[0])\nmain()\n"), ("print(next_scores(", "print((later := next_scores)(")),
        (("@jax.jit\n", "@jax.jit\n@jax.named_call\n"),),
        (("def next_scores(weights, ids):", "def next_scores(weights, ids, scale=1):"),),
        (("[0, -1]", "[-1, -1]"),),
    ],
)  # fmt: skip
def test_functions_that_keep_their_parameters(tmp_path: Path, pairs: tuple[tuple[str, str], ...]) -> None:
    path = tmp_path.resolve() / "program.py"
    path.write_text(of(INSIDE, *pairs))
    functions = seen(path)
    assert len(functions) == 1
    assert from_ends(functions, {str(path): read_source(path, str(path))}) == []


def test_modules_that_nnx_hands_over_come_back_before_the_result(tmp_path: Path) -> None:
    nnx = pytest.importorskip("flax.nnx")
    path = tmp_path.resolve() / "program.py"
    path.write_text(
        """
from flax import nnx
import jax.numpy as jnp


class Sums(nnx.Module):
    def __init__(self):
        self.table = nnx.Param(jnp.arange(40.0).reshape(5, 8))

    def __call__(self, ids):
        return jnp.cumsum(self.table[ids], axis=1)


@nnx.jit
def next_scores(model, ids):
    return model(ids)[:, -1]


model, ids = Sums(), jnp.array([[1]])
for _ in range(7):
    new = jnp.argmax(next_scores(model, ids), axis=1) % 5
    ids = jnp.concatenate([ids, new[None]], axis=1)
print(ids)
"""
    )
    recorder = Recorder(Project([path.parent]), Stopper(), None, 2**20)
    inner = jax.jit

    def recorded(function: Any, **options: Any) -> Any:
        own = getattr(function, "f", None)  # what `nnx.jit` compiles holds the program's function
        made = inner(function, **options)
        return made if own is None else recorder.wrap(made, own, options, sys._getframe(1))

    recorder.start()
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(io.StringIO()):
        patch.setattr(jax, "jit", recorded)
        exec(compile(path.read_text(), str(path), "exec"), {"__name__": "program", "nnx": nnx})
    recorder.stop()
    (record,) = recorder.records.values()
    ends = padded_end(record)
    assert ends is not None
    # nnx traces no new length outside of its own call, so only lengths that were compiled are tried
    assert (ends["name"], ends["axis"], ends["result_axis"], ends["multiple"]) == ("ids", 1, None, 7)
    assert ends["at_most"]
