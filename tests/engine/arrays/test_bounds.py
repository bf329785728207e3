"""The intervals that arrays are said to lie in, and the ends that they are said to reach, held against JAX."""

from __future__ import annotations

import ast
import random
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxlint.staging.shapes.bounds import bounds_of
from jaxlint.staging.values import Array, Operation, Static, Value

NODE = ast.Constant(0)
# Inputs from everywhere, where functions round to their limits too.
INPUT = jnp.asarray(np.concatenate([np.linspace(-40, 40, 801), [0.0, 1e-3, -1e-3]]), jnp.float32)
UNARY: dict[str, Callable[[jax.Array], jax.Array]] = {
    "tanh": jnp.tanh,
    "sigmoid": jax.nn.sigmoid,
    "negative": jnp.negative,
    "square": jnp.square,
    "absolute": jnp.abs,
    "exp": jnp.exp,
    "sin": jnp.sin,
    "cos": jnp.cos,
}
BINARY: dict[str, Callable[[jax.Array, jax.Array], jax.Array]] = {
    "add": jnp.add,
    "subtract": jnp.subtract,
    "multiply": jnp.multiply,
    "maximum": jnp.maximum,
    "minimum": jnp.minimum,
}
Pair = tuple[Value, jax.Array]


def made(name: str, *args: Value) -> Array:
    return Array(True, dtype="float32", made=Operation(name, args, {}, NODE, full=f"jax.numpy.{name}"))


def tree(draw: random.Random, depth: int) -> Pair:
    if depth == 0:
        return (Array(True, dtype="float32"), INPUT)
    value, numbers = tree(draw, depth - 1)
    kind = draw.choice(["unary", "unary", "number", "same", "clip"])
    if kind == "unary":
        name = draw.choice(list(UNARY))
        return made(name, value), UNARY[name](numbers)
    if kind == "clip":
        low, high = sorted(draw.choice([-2.0, -1.0, 0.0, 0.5, 1.0, 3.0]) for _ in range(2))
        return made("clip", value, Static(low), Static(high)), jnp.clip(numbers, low, high)
    name = draw.choice(list(BINARY))
    if kind == "same":
        return made(name, value, value), BINARY[name](numbers, numbers)
    number = draw.choice([-2.0, -1.0, 0.0, 0.5, 1.0, 3.0])
    if draw.random() < 0.5:
        return made(name, Static(number), value), BINARY[name](jnp.float32(number), numbers)
    return made(name, value, Static(number)), BINARY[name](numbers, jnp.float32(number))


@pytest.mark.parametrize("seed", range(8))
def test_numbers_lie_in_the_interval_and_reach_the_ends(seed: int) -> None:
    draw = random.Random(seed)
    bounded = reached = 0
    for _ in range(120):
        value, numbers = tree(draw, draw.randint(1, 4))
        found, known = bounds_of(value), np.asarray(numbers, np.float64)
        known = known[np.isfinite(known)]
        if not known.size:
            continue
        slack = 1e-5 * (1 + np.abs(known).max())
        assert known.min() >= found.low - slack
        assert known.max() <= found.high + slack
        bounded += np.isfinite(found.low) or np.isfinite(found.high)
        if found.at_low:
            reached += 1
            assert known.min() == pytest.approx(found.low, abs=1e-6)
        if found.at_high:
            reached += 1
            assert known.max() == pytest.approx(found.high, abs=1e-6)
    assert bounded > 50
    assert reached > 5


def test_functions_round_to_their_limits_where_the_table_says() -> None:
    assert jnp.tanh(jnp.float32(9.1)) == 1
    assert jax.nn.sigmoid(jnp.float32(17.1)) == 1
    assert jax.scipy.special.erf(jnp.float32(4.1)) == 1
    assert jax.nn.softmax(jnp.array([0.0, 20.0]))[1] == 1


def test_an_empty_segment_has_the_sum_zero() -> None:
    ones = made("ones", Static(3))
    count = Array(True, dtype="float32", made=Operation("jax.ops.segment_sum", (ones, Static(0)), {}, NODE))
    assert bounds_of(count).why_at(0.0)
    assert not bounds_of(made("maximum", count, Static(1.0))).why_at(0.0)
