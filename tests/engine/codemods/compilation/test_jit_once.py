"""`jit-once`."""

from __future__ import annotations

import contextlib
import io

import pytest

PROGRAM = """import jax
import jax.numpy as jnp

SCALE = 2.0
traced = []


def loss(w, x):
    return SCALE * jnp.sum((x @ w) ** 2)


# fits one weight
class Fit:
    def __init__(self, rate):
        self.rate = rate
        self.grad = «jax.jit(jax.grad(loss))»

    def step(self, w, x):
        return w - self.rate * self.grad(w, x)


grads = [Fit(rate) for rate in (0.1, 0.2)]
print([one.step(jnp.ones(2), jnp.ones((3, 2))).tolist() for one in grads], grads[0].grad is grads[1].grad)
"""


def output(program: str) -> str:
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(program, {"__name__": "__main__"})
    return out.getvalue()


def changed(*pairs: tuple[str, str]) -> str:
    text = PROGRAM
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new)
    return text


def test_what_each_object_jits_is_jitted_once(rewrite):
    after = rewrite("jit-once", PROGRAM)
    assert "\n\n\ngrad = jax.jit(jax.grad(loss))\n\n\n# fits one weight\nclass Fit:\n" in after
    assert "        self.grad = grad\n" in after
    before = output(PROGRAM.replace("«", "").replace("»", ""))
    assert output(after) == before.replace("False", "True")
    again = after.replace("grad = jax.jit(jax.grad(loss))", "grad = «jax.jit(jax.grad(loss))»")
    assert rewrite("jit-once", again) == "refused: the module jits it once"


def test_a_variable_of_a_function(rewrite):
    text = changed(("        self.grad = «", "        grad = «"), ("»\n", "»\n        self.grad = grad\n"))
    after = rewrite("jit-once", text)
    assert "jitted_loss = jax.jit(jax.grad(loss))\n" in after
    assert "        grad = jitted_loss\n        self.grad = grad\n" in after


@pytest.mark.parametrize(
    ("pairs", "why"),
    [
        ([("jax.grad(loss)", "jax.grad(self.loss)")], "it reads `self`"),
        ([("jax.grad(loss)", "jax.grad(loss), static_argnums=rate")], "it reads `rate`"),
        ([("jax.jit(jax.grad(loss))", "jax.jit(lambda w, x: loss(w, x))")], "has no name"),
        ([("jax.jit(", "jax.grad(")], "the call is no `jit`"),
        ([("def loss(", "def other(w, x):\n    return w\n\n\nloss = other\n\n\ndef loss(")], "`loss` is not certainly bound"),
        ([("SCALE = 2.0", "SCALE = 2.0\n\n\ndef faster():\n    global SCALE\n    SCALE += 1")], "may change"),
        ([("    return SCALE", "    traced.append(1)\n    return SCALE * len(traced)")], "may change"),
    ],
)  # fmt: skip
def test_what_differs_from_object_to_object(rewrite, pairs, why):
    answer = rewrite("jit-once", changed(*pairs))
    assert answer.startswith("refused: ")
    assert why in answer


def test_a_function_that_is_defined_below(rewrite):
    start, end = PROGRAM.index("def loss"), PROGRAM.index("# fits")
    text = PROGRAM[:start] + PROGRAM[end:].replace("\ngrads = ", "\n" + PROGRAM[start:end] + "grads = ")
    assert "`loss` is not certainly bound above" in rewrite("jit-once", text)
