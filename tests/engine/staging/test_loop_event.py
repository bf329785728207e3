"""What the analysis tells of a loop in staged code: which variables keep the shape that they had before it."""

from __future__ import annotations

from pathlib import Path

import pytest

from jaxlint.rule import Rule
from jaxlint.source.read import source_from_bytes
from jaxlint.staging import analyze
from jaxlint.staging.analysis import Reporter
from jaxlint.staging.events import LoopEvent
from jaxlint.staging.values import Array

HEAD = """
import jax, jax.numpy as jnp
def residual(w, h):
    return h + jnp.tanh(h @ w)
@jax.jit
def program(ws, x):
"""


class Loops(Rule):
    code = "JAX000"
    name = "loops"

    def __init__(self) -> None:
        self.kept: set[str] = set()

    def on_loop(self, event: LoopEvent, report: Reporter) -> None:
        for name, before in event.before.items():
            after = event.after.get(name)
            if isinstance(before, Array) and isinstance(after, Array) and after.like is not None:
                known = {origin.root() for origin in (before.origin, before.like) if origin is not None}
                if after is not before and after.like.root() in known:
                    self.kept.add(name)


@pytest.mark.parametrize(
    ("body", "kept"),
    [
        ("for w in ws:\n    x = x + jnp.tanh(x @ w)\nreturn x", {"x"}),
        ("h = x * 2.0\nfor w in ws:\n    h = residual(w, h)\nreturn h", {"h"}),
        ("h = jnp.sin(x)\nfor w in ws:\n    h = residual(w, h)\nreturn h", {"h"}),
        ("for w in ws:\n    x = jnp.tanh(x @ w)\nreturn x", set()),
        ("y = x\nfor w in ws:\n    y = w @ x\nreturn y", set()),
    ],
)
def test_variables_that_keep_their_shape(body: str, kept: set[str], tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    code = HEAD + "".join(f"    {line}\n" for line in body.splitlines())
    path.write_text(code)
    rule = Loops()
    analysis = analyze([source_from_bytes(code.encode(), path, "program.py")], [rule])
    assert not analysis.errors
    assert rule.kept == kept
