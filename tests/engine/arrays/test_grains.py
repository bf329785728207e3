"""How far the numbers of NumPy arrays are apart, held against NumPy."""

from __future__ import annotations

import ast
import random

import numpy as np

from jaxlint.staging.shapes.grains import grain_of, spacing
from jaxlint.staging.values import ListValue, NumpyArray, Operation, Static, Value

NODE = ast.Constant(0)


def made(name: str, *args: Value) -> NumpyArray:
    return NumpyArray(dtype="float64", made=Operation(name, args, {}, NODE))


def start(draw: random.Random) -> tuple[Value, np.ndarray]:
    kind = draw.choice(["arange", "linspace", "list"])
    low, width = draw.uniform(-10, 10), draw.uniform(0.5, 20)
    if kind == "arange":
        step = width / draw.randint(2, 40)
        return made("arange", Static(low), Static(low + width), Static(step)), np.arange(
            low, low + width, step
        )
    if kind == "linspace":
        count = draw.randint(3, 40)
        return made("linspace", Static(low), Static(low + width), Static(count)), np.linspace(
            low, low + width, count
        )
    numbers = [draw.uniform(low, low + width) for _ in range(draw.randint(2, 8))]
    return made("array", ListValue([Static(number) for number in numbers])), np.array(numbers)


def test_the_step_and_the_ends_are_those_of_numpy() -> None:
    draw = random.Random(5)
    lost = 0
    for _ in range(400):
        value, numbers = start(draw)
        for _ in range(draw.randint(0, 3)):
            number = draw.choice([-1, 1]) * 10 ** draw.uniform(-2, 7)
            name, of = draw.choice([("add", np.add), ("subtract", np.subtract), ("multiply", np.multiply)])
            if draw.random() < 0.5 and name != "subtract":
                value, numbers = made(name, Static(number), value), of(number, numbers)
            else:
                value, numbers = made(name, value, Static(number)), of(numbers, number)
        found = grain_of(value)
        assert found is not None
        size = max(abs(found.low), abs(found.high), 1.0)
        assert found.low - 1e-9 * size <= numbers.min()
        assert numbers.max() <= found.high + 1e-9 * size
        steps = np.diff(np.sort(numbers))
        assert np.isclose(steps.min(), found.step, rtol=1e-3, atol=1e-8 * size)
        if found.is_lost:
            lost += 1
            narrow = np.sort(numbers.astype(np.float32).astype(np.float64))
            assert np.abs(np.diff(narrow) - steps).max() > 0.99 * found.step
    assert lost > 5


def test_the_spacing_of_float32() -> None:
    for number in (1.0, 0.75, 3.0, 2_459_000.5, 1.7e9, 1e-3):
        assert spacing(number) == np.spacing(np.float32(number))
    assert spacing(0.0) == 0.0
