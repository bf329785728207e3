"""Which compiled functions differentiate, also by a function that another one has called before."""

from __future__ import annotations

from pathlib import Path

from jaxlint.rule import Rule
from jaxlint.source.read import source_from_bytes
from jaxlint.staging import analyze
from jaxlint.staging.analysis import Reporter
from jaxlint.staging.events import StagedReturnEvent

CODE = """
import jax, jax.numpy as jnp
def loss(w, x):
    return jnp.mean((x @ w) ** 2)
def update(w, x):
    return w - jax.grad(loss)(w, x)
@jax.jit
def first(w, x):
    return update(w, x)
@jax.jit
def second(w, x):
    return update(w, x)
@jax.jit
def evaluate(w, x):
    return loss(w, x)
"""


class Gradients(Rule):
    code = "JAX000"
    name = "gradients"

    def __init__(self) -> None:
        self.seen: dict[str, bool] = {}

    def on_staged_return(self, event: StagedReturnEvent, report: Reporter) -> None:
        self.seen[event.function.name] = event.takes_gradient


def test_a_function_that_is_known_takes_its_gradient_again(tmp_path: Path) -> None:
    rule = Gradients()
    analysis = analyze([source_from_bytes(CODE.encode(), tmp_path / "program.py", "program.py")], [rule])
    assert not analysis.errors
    assert rule.seen == {"first": True, "second": True, "evaluate": False}
