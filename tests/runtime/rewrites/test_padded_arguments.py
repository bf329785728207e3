"""Functions that compile for each length: what a run shows of them, and the program with padded arguments."""

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
from jaxlint_runtime.capture.recorder import Recorder
from jaxlint_runtime.capture.stop import Stopper
from jaxlint_runtime.capture.varying_lengths import padding_of
from jaxlint_runtime.rewrites.padded_arguments import from_lengths
from jaxlint_runtime.rewrites.tried_edit import edited

PROGRAM = """
import jax
import jax.numpy as jnp
import numpy as np


def pool(w, batch):
    h = jnp.cos(batch["x"] @ w)
    h = h + jax.ops.segment_sum(h[batch["to"]], batch["ids"], num_segments=len(h))
    return jnp.mean(h, axis=0)


def loss(w, batch):
    return jnp.sum(pool(w, batch) ** 2)


step = jit(jax.value_and_grad(loss), loss)
for n in (5, 3, 6, 2, 4, 6):
    one = {"x": np.arange(3.0 * n).reshape(n, 3) / n, "ids": np.arange(n) % 2, "to": np.arange(n)[::-1]}
    value, grads = step(np.ones((3, 2)), one)
    print(f"{value:.4f} {grads.sum():.4f}")
"""


def back(function: Any, *args: Any) -> Any:
    """As a library calls a function of the program."""
    return function(*args)


def run(path: Path, recorder: Recorder | None) -> str:
    def jit(jitted: Any, function: Any) -> Any:
        made = jax.jit(jitted)
        return made if recorder is None else recorder.wrap(made, function, {}, sys._getframe(1))

    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(
            compile(path.read_text(), os.path.relpath(path), "exec"),
            {"__name__": "program", "jit": jit, "BACK": back},
        )
    return out.getvalue()


def seen(path: Path) -> list[dict[str, Any]]:
    """What a run shows of the functions that it jits."""
    recorder = Recorder(Project([path.parent]), Stopper(), None, 2**20)
    recorder.start()
    try:
        run(path, recorder)
    finally:
        recorder.stop()
    compiles = [{"trace_s": 0.0, "lower_s": 0.0, "compile_s": 1.0}]
    return [
        {
            "function": one.identity.qualname,
            "path": str(path),
            "line": one.identity.line,
            "compiles": compiles,
            "padding": padding_of(one),
        }
        for one in recorder.records.values()
    ]


@pytest.mark.skipif(sys.version_info < (3, 11), reason="no columns of calls")
def test_the_written_program_prints_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path.resolve() / "program.py"
    path.write_text(PROGRAM)
    (one,) = seen(path)
    arrays = {each["key"]: (each["multiple"], each["outside"]) for each in one["padding"]["arrays"]}
    assert arrays == {"x": (8, False), "ids": (8, True), "to": (8, True)}
    sources = {str(path): read_source(path, str(path))}
    (rewrite,) = from_lengths([one], sources)
    new = edited(rewrite.fixes, sources)
    assert not isinstance(new, str)
    before = run(path, None)
    path.write_text(new[str(path)].text)
    assert "where=None if mask is None else mask[:, None]" in path.read_text()
    assert "def loss(w, batch, mask=None):" in path.read_text()
    assert run(path, None) == before
    (again,) = seen(path)
    assert again["padding"] is None  # one compile


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("jnp.mean(h, axis=0)", "h[-1]", "read"),
        ("np.arange(n)[::-1]", "-np.arange(n)", "negative"),
        ("jnp.sum(pool(w, batch) ** 2)", "jnp.sum(BACK(pool, w, batch) ** 2)", "called by a library"),
        ('"ids": np.arange(n) % 2', '"ids": jnp.arange(n) % 2', "on the device"),
    ],
)
def test_what_is_not_padded(old: str, new: str, reason: str, tmp_path: Path) -> None:
    path = tmp_path.resolve() / "program.py"
    path.write_text(PROGRAM.replace(old, new))
    (one,) = seen(path)
    assert reason in one["padding"]["refused"]
    assert from_lengths([one], {str(path): read_source(path, str(path))}) == []
