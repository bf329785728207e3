"""A function that each turn of a loop jits anew reads the settings of that turn; jitted once it would keep the first."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from jaxlint.codemods import Workspace
from jaxlint.finding import FixRequest, Safety, Span, Step
from jaxlint.source import SourceFile

PROGRAM = """import sys
import jax
import jax.numpy as jnp

SETTINGS = {{"rate": 0.1}}
RATES = (0.1, 0.2)
RATE = 0.1

class Plan:
    rate = 0.1

plan = Plan()

def cool():
    global RATE
    {change}

def loss(w, x):
    return jnp.mean((x @ w) ** 2)

def rate():
    return {read}

def main():
    w, x = jnp.ones(3), jnp.ones((4, 3))
    x = x / 2
    for stage in range(3):

        @jax.jit
        def step(w):
            return w - rate() * jax.grad(loss)(w, x)

        w = step(w)
        if len(sys.argv) > 1:
            cool()
    return w

main()
"""


def refusal(text: str) -> str:
    source = SourceFile(Path("a.py"), "a.py", text, "utf-8", False, "")
    (function,) = (
        node
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef) and node.name == "step"
    )
    step = Step(
        "hoist-jit",
        "a.py",
        Span(function.lineno, function.col_offset + 5, function.lineno, function.col_offset + 9),
    )
    plan = Workspace({"a.py": source}, strict=True).plan(FixRequest(Safety.UNSAFE, "Hoist", (step,)))
    return plan if isinstance(plan, str) else ""


@pytest.mark.parametrize(
    ("change", "read", "told"),
    [
        ('SETTINGS["rate"] *= 0.5', 'SETTINGS["rate"]', "reads `SETTINGS`"),
        ("SETTINGS.update(rate=0.5)", 'SETTINGS["rate"]', "reads `SETTINGS`"),
        ("RATE = 0.5 * RATE", "RATE", "reads `RATE`"),
        ("Plan.rate = 0.5", "Plan.rate", "reads `Plan.rate`"),
        ("plan.rate = 0.5", "plan.rate", "reads `plan`"),
        ("print(SETTINGS)", 'SETTINGS["rate"]', ""),
        ("print(RATES)", "RATES[0]", ""),
        ("pass", "RATE", ""),
    ],
)
def test_settings_that_a_call_in_the_loop_changes(change: str, read: str, told: str) -> None:
    found = refusal(PROGRAM.format(change=change, read=read))
    assert told in found if told else found == ""
