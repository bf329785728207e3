"""An optimizer calls what the program made it with; and a step may not take buffers over that its state, or a caller's caller, holds."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from jaxlint.codemods import Workspace
from jaxlint.finding import FixRequest, Safety, Span, Step
from jaxlint.source import SourceFile

TRAIN = """import sys
import jax, jax.numpy as jnp, numpy as np, optax
gradient = jax.jit(jax.grad(lambda w, x: jnp.sum((w * x - 1.0) ** 2)))
def train(w, opt, xs):
    state = opt.init(w)
    for x in xs:
        g = gradient(w, x)
        updates, state = opt.update(g, state, w)
        w = optax.apply_updates(w, updates)
    return w
"""
OURS = """
class Dial:
    def __init__(self, value):
        self.value = value
    def __call__(self, count):
        return self.value
    def rate(self, count):
        return self.value * 2
def clipped():
    def update(g, state, params=None):
        if optax.global_norm(g) > 1.0:
            g = g / 2
        return g, state
    return optax.GradientTransformation(lambda w: (), update)
def told():
    def update(g, state, params=None):
        print(state)
        return g, state
    return optax.GradientTransformation(lambda w: (), update)
def counted():
    return optax.GradientTransformation(lambda w: 0, lambda g, state, params=None: (g, len("ab")))
def halved():
    def update(g, state, params=None):
        return jax.tree.map(lambda a: a / 2, g), state
    return optax.GradientTransformation(lambda w: w, update)
RATES, dial = {"now": 0.1}, Dial(0.1)
def slower(count):
    return 0.1 / (1.0 + count)
"""
REFUSED = {
    "a schedule of an object that is set later": ("optax.sgd(dial)\n    dial.value = 0.2", "whose `value` is set at"),
    "its method": ("optax.chain(optax.scale_by_schedule(dial.rate))\n    dial.value = 0.2", "whose `value` is set at"),
    "a schedule that reads a table": ("optax.sgd(lambda count: RATES['now'])\n    RATES['now'] = 0.2", "reads `RATES`"),
    "a schedule that reads a table of the function around": ("optax.sgd(lambda count: box['now'])\n    box['now'] = 0.2", "reads `box`"),
    "a schedule by name": ("optax.sgd(learning_rate=lambda count: 0.1 if count < 3 else 0.01)", "branches on a tracer"),
    "a part that branches": ("optax.chain(clipped(), optax.sgd(0.1))", "branches on a tracer"),
    "parts of a list": ("optax.chain(*[clipped(), optax.sgd(0.1)])", "branches on a tracer"),
    "parts of a list that grows": ("optax.chain(*parts)", "branches on a tracer"),
    "a part behind a flag": ("optax.chain(optax.chain(clipped()), optax.sgd(0.1)) if '--clip' in sys.argv else optax.sgd(0.1)", "branches on a tracer"),
    "a part that prints": ("optax.chain(told(), optax.sgd(0.1))", "at trace time"),
}  # fmt: skip
DONATED = {
    "no part of the program": "optax.chain(optax.clip(1.0), optax.adam(0.1))",
    "a schedule that only computes": "optax.adam(slower)",
    "an object that stays": "optax.adam(dial)",
    "a mask": "optax.masked(optax.sgd(0.1), lambda tree: jax.tree.map(lambda a: a.ndim > 0, tree))",
}
SHARING = {
    "a state that is made of the parameters": "optax.chain(halved(), optax.sgd(0.1))",
    "the same of the library": "optax.contrib.prodigy(0.1)",
    "the same within others": "optax.chain(optax.clip(1.0), optax.chain(optax.contrib.prodigy(0.1)))",
    "behind a flag": "optax.contrib.cocob() if '--cocob' in sys.argv else optax.adam(0.1)",
}
EPOCHS = """
def start():
    box, w, history, parts = {"now": 0.1}, jnp.ones(3), [], [optax.sgd(0.1)]
    parts.append(clipped())
    opt = %s
    for epoch in range(3):
        w = train(w, opt, jnp.ones((9, 3)))
        %s
    print(w.sum(), history)
start()
"""


def edited(optimizer: str, after: str = "pass") -> str:
    """The program with its step under `jit`, or why that is refused."""
    text = TRAIN + OURS + EPOCHS % (optimizer, after)
    source = SourceFile(Path("a.py"), "a.py", text, "utf-8", False, "")
    (line,) = [n for n, one in enumerate(text.splitlines(), 1) if "opt.update" in one]
    options = {"transform": "jax.jit", "around": True, "donate": True}
    step = Step("region-to-jit", "a.py", Span(line, 9, line, 49), options)
    workspace = Workspace({"a.py": source}, strict=True)
    plan = workspace.plan(FixRequest(Safety.UNSAFE, "Jit", (step,)))
    if isinstance(plan, str):
        return plan
    new = workspace.edited([plan])["a.py"].text
    ast.parse(new)
    return new


@pytest.mark.parametrize(("optimizer", "why"), REFUSED.values(), ids=REFUSED)
def test_what_an_optimizer_calls_counts(optimizer: str, why: str) -> None:
    assert why in edited(optimizer)


@pytest.mark.parametrize("optimizer", DONATED.values(), ids=DONATED)
def test_a_step_takes_over_what_nothing_else_holds(optimizer: str) -> None:
    assert "donate_argnums=(0, 1)" in edited(optimizer)


@pytest.mark.parametrize("optimizer", SHARING.values(), ids=SHARING)
def test_a_state_that_may_hold_the_parameters_is_not_taken_over(optimizer: str) -> None:
    new = edited(optimizer)
    assert "@jax.jit" in new
    assert "donate" not in new


KEPT = {
    "a list": "history.append(w)",
    "a list of pairs": "history.append((epoch, w))",
    "another variable": "best = w",
    "an item": "best = w[None][0:1]",
}


@pytest.mark.parametrize("after", KEPT.values(), ids=KEPT)
def test_what_a_caller_keeps_is_not_taken_over(after: str) -> None:
    new = edited("optax.adam(0.1)", after)
    assert "jax.jit" in new
    assert "donate_argnums=(0, 1)" not in new


@pytest.mark.parametrize("after", ["history.append(w.shape)", "print(w, epoch)", "history.append(float(w.sum()))"])  # fmt: skip
def test_what_a_caller_only_looks_at_is(after: str) -> None:
    assert "donate_argnums=(0, 1)" in edited("optax.adam(0.1)", after)
