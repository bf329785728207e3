"""The arithmetic of sizes, held against that of the numbers that the symbols stand for."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from jaxlint.staging.values.sizes import (
    Polynomial,
    Size,
    Symbol,
    add,
    differ,
    divide,
    least,
    may_be,
    multiply,
    quotient,
    remainder,
    subtract,
    symbol,
    symbols_of,
    written,
)


def value(size: Size, numbers: dict[Symbol, int]) -> int:
    """What a size is where its symbols are these numbers."""
    if isinstance(size, int):
        return size
    total = 0
    for monomial, factor in size.terms:
        for atom in monomial:
            if isinstance(atom, Symbol):
                factor *= numbers[atom]
            else:
                left, right = value(atom.left, numbers), value(atom.right, numbers)
                factor *= left // right if atom.operator == "//" else left % right
        total += factor
    return total


OPERATIONS: list[tuple[Callable[[Size, Size], Size | None], Callable[[int, int], int]]] = [
    (add, lambda a, b: a + b),
    (subtract, lambda a, b: a - b),
    (multiply, lambda a, b: a * b),
    (divide, lambda a, b: a // b),
    (remainder, lambda a, b: a % b),
    (quotient, lambda a, b: a // b),
]


def only(size: Size) -> Symbol:
    (found,) = symbols_of(size)
    return found


@pytest.mark.parametrize("seed", range(40))
def test_arithmetic(seed: int) -> None:
    draw = random.Random(seed)
    names: list[Size] = [symbol(name) for name in "ABC"]
    numbers = {only(name): draw.randint(1, 6) for name in names}
    pool: list[Size] = [*names, 1, 2, 3, 4]
    for _ in range(40):
        left, right = draw.choice(pool), draw.choice(pool)
        operation, meaning = draw.choice(OPERATIONS)
        one, two = value(left, numbers), value(right, numbers)
        found = operation(left, right)
        if found is None or two == 0:
            continue
        assert value(found, numbers) == meaning(one, two), (written(left), written(right), written(found))
        if operation is quotient:
            assert one % two == 0
        bound = least(found)
        assert bound is None or bound <= value(found, numbers)
        for other in pool:
            if differ(found, other):
                assert value(found, numbers) != value(other, numbers), (written(found), written(other))
        if abs(value(found, numbers)) < 1000:
            pool.append(found)


def test_normal_form() -> None:
    b, d = symbol("B"), symbol("D")
    assert add(b, d) == add(d, b)
    assert multiply(add(b, 1), 2) == add(multiply(2, b), 2)
    assert subtract(add(b, d), b) == d
    assert quotient(multiply(multiply(4, b), d), multiply(2, d)) == multiply(2, b)
    assert symbol("B") != symbol("B")
    assert isinstance(b, Polynomial)


def test_what_differs() -> None:
    b = symbol("B")
    assert differ(2, 3)
    assert differ(b, add(b, 1))
    assert not differ(b, 3)
    assert not differ(b, symbol("B"))
    assert differ(multiply(2, b), 7)
    assert not may_be(add(b, 1), 1)
    assert may_be(b, 1)


def test_as_a_program_writes_them() -> None:
    b, d = symbol("B"), symbol("D")
    assert written(multiply(4, d)) == "4*D"
    assert written(subtract(b, 1)) == "B - 1"
    assert written(add(multiply(b, d), 2)) == "B*D + 2"
    assert written(divide(d, 4) or 0) == "D // 4"
