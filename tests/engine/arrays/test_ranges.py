"""The integers that arrays are said to hold, held against NumPy's, which have 64 bits."""

from __future__ import annotations

import ast
import operator
import random

import numpy as np
import pytest

from jaxlint.staging.shapes.ranges import range_of
from jaxlint.staging.values import Array, Operation, Static, Value

NODE = ast.Constant(0)
BINARY = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "maximum": np.maximum,
    "minimum": np.minimum,
}
LENGTH = 12
Pair = tuple[Value, np.ndarray]


def made(name: str, *args: Value) -> Array:
    return Array(False, dtype="int32", made=Operation(name, args, {}, NODE, full=f"jax.numpy.{name}"))


def leaf(draw: random.Random) -> Pair:
    if draw.random() < 0.4:
        number = draw.randint(-9, 9)
        return Static(number), np.array(number)
    start, step = draw.randint(-5, 5), draw.choice([-3, -1, 1, 2])
    bounds = start, start + LENGTH * step, step
    return made("arange", *map(Static, bounds)), np.arange(*bounds)


def tree(draw: random.Random, depth: int) -> Pair:
    if depth == 0:
        return leaf(draw)
    one, two = tree(draw, depth - 1), tree(draw, draw.randint(0, depth - 1))
    name = draw.choice([*BINARY, "negative", "power", "reshape"])
    if name == "negative":
        return made(name, one[0]), -one[1]
    if name == "reshape":
        return made(name, one[0], Static(-1)), one[1].reshape(-1)
    if name == "power":
        return made(name, one[0], Static(2)), one[1] ** 2
    return made(name, one[0], two[0]), BINARY[name](one[1], two[1])


@pytest.mark.parametrize("seed", range(10))
def test_what_is_said_is_reached(seed: int) -> None:
    draw = random.Random(seed)
    told = 0
    for _ in range(300):
        value, numbers = tree(draw, draw.randint(1, 3))
        found = range_of(value)
        if found is not None:
            told += 1
            assert (found.low, found.high) == (numbers.min(), numbers.max())
            assert found.mean is None or found.mean == numbers.mean()
            assert found.step == 0 or not (numbers % found.step).any()
    assert told > 90


@pytest.mark.parametrize(("start", "stop"), [(0, 0), (5, 2)])
def test_an_empty_range_has_no_ends(start: int, stop: int) -> None:
    assert range_of(made("arange", Static(start), Static(stop))) is None


def drawn(name: str, *args: object) -> Array:
    return Array(False, dtype="int32", made=Operation(name, tuple(map(Static, args)), {}, NODE, full=name))


@pytest.mark.parametrize(
    ("low", "high", "factor", "count"),
    [(0, 1000, 1, 50), (0, 1000, 7919, 50), (3, 900, 6, 100), (0, 60, 4, 48)],
)
def test_remainders_of_random_numbers_reach_all(low: int, high: int, factor: int, count: int) -> None:
    value = made(
        "remainder",
        made("multiply", drawn("numpy.random.integers", low, high), Static(factor)),
        Static(count),
    )
    numbers = np.random.default_rng(0).integers(low, high, 50_000) * factor % count
    found = range_of(value)
    assert found is not None
    assert (found.low, found.high) == (numbers.min(), numbers.max())
    assert not (numbers % found.step).any()


def test_remainders_that_are_only_bounds() -> None:
    for value in (
        drawn("numpy.random.integers", 0, 20),
        made("arange", Static(200)),
        drawn("numpy.random.zipf", 3.0),
    ):
        assert range_of(made("remainder", value, Static(50))) is None


def test_numbers_without_a_mean_go_round() -> None:
    found = range_of(made("mod", drawn("numpy.random.zipf", 1.3), Static(50_257)))
    assert found is not None
    assert (found.low, found.high) == (0, 50_256)
