"""`give-dtype`."""

from __future__ import annotations

import contextlib
import io

import pytest

PROGRAM = """from typing import NamedTuple

import jax
import jax.numpy as jnp


class Walk(NamedTuple):
    place: jax.Array
    speed: jax.Array
    steps: jax.Array


class Track:
    def __init__(self, n):
        self.walk = Walk(jnp.full(n, -0.5), jnp.asarray(2.0), jnp.array(0))


@jax.jit
«def advance(walk, noise):
    return Walk(walk.place + noise, walk.speed * noise.mean(), walk.steps + 1)»


track = Track(3)
walk = track.walk
for n in range(3):
    walk = advance(walk, jnp.ones(3))
print(walk.place, walk.speed, advance._cache_size())
"""
STARTS = [
    {"name": "walk", "argument": 0, "key": None, "dtype": "float32"},
]


def output(program: str) -> str:
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(program, {"__name__": "__main__"})
    return out.getvalue()


def test_an_array_that_begins_the_state_gets_a_dtype(rewrite):
    after = rewrite("give-dtype", PROGRAM, starts=STARTS)
    assert "Walk(jnp.full(n, -0.5, dtype=float), jnp.asarray(2.0, dtype=float), jnp.array(0))" in after
    before = output(PROGRAM.replace("«", "").replace("»", ""))
    assert before == "[2.5 2.5 2.5] 2.0 2\n"
    assert output(after) == before.replace(" 2\n", " 1\n")


def test_the_edit_is_made_once(rewrite):
    after = rewrite("give-dtype", PROGRAM, starts=STARTS)
    again = after.replace("def advance", "«def advance").replace("steps + 1)", "steps + 1)»")
    assert rewrite("give-dtype", again, starts=STARTS).startswith("refused: no array")


CALL = """import jax
import jax.numpy as jnp


def loss(p, x):
    return p["scale"] * x.sum() + p["shift"]


«def fit(x):
    grad = jax.jit(jax.grad(loss))
    scale = 0.25
    params = {"scale": jnp.array(scale), "shift": jnp.array(-1.5 / 2), "size": jnp.zeros(3)}
    other = {"scale": jnp.array(7.0)}
    for _ in range(2):
        grads = grad(params, x)
    return grads, other»
"""


def test_only_what_reaches_the_item_of_a_call_that_was_seen(rewrite):
    starts = [{"name": "p", "argument": 0, "key": "scale", "dtype": "float32"}]
    calls = [[15, 16, 15, 31]]
    after = rewrite("give-dtype", CALL, starts=starts, calls=calls)
    assert '{"scale": jnp.array(scale, dtype=float), "shift": jnp.array(-1.5 / 2), "size"' in after
    assert "jnp.array(7.0)}" in after
    starts[0]["key"] = "shift"
    after = rewrite("give-dtype", CALL, starts=starts, calls=calls)
    assert '"shift": jnp.array(-1.5 / 2, dtype=float)' in after


@pytest.mark.parametrize(
    "made",
    [
        "jnp.zeros(3)",
        "jnp.array(0.5, jnp.float32)",
        "jnp.full(3, 0.5, dtype=jnp.bfloat16)",
        "jnp.array([0.5, 1.5])",
        "jnp.array(1)",  # of another type than the array that was seen
        "make(3)",
    ],
)
def test_other_arrays_stay(rewrite, made):
    program = PROGRAM.replace("jnp.full(n, -0.5), jnp.asarray(2.0)", f"{made}, {made}")
    assert rewrite("give-dtype", program, starts=STARTS).startswith("refused: no array")


def test_a_name_like_the_type(rewrite):
    program = PROGRAM.replace("track = Track(3)", "float = 3\ntrack = Track(3)")
    assert rewrite("give-dtype", program, starts=STARTS) == "refused: `float` is not the builtin here"


def test_integers_and_complex_numbers(rewrite):
    starts = [{**STARTS[0], "dtype": "int32"}]
    assert "jnp.array(0, dtype=int))" in rewrite("give-dtype", PROGRAM, starts=starts)
    program = PROGRAM.replace("jnp.asarray(2.0)", "jnp.asarray(2.0 + 1j)")
    starts = [{**STARTS[0], "dtype": "complex64"}]
    assert "jnp.asarray(2.0 + 1j, dtype=complex)" in rewrite("give-dtype", program, starts=starts)
