"""The order in which methods are looked up in bases is that of Python, and many bases take little time."""

from __future__ import annotations

import random
import time
from typing import Any

from jaxlint.staging.values.objects import ClassValue


def value_of(bases: list[ClassValue]) -> ClassValue:
    return ClassValue(node=None, module=None, scope=None, qualname="C", bases=list(bases))  # type: ignore[arg-type]


def test_the_order_is_that_of_python() -> None:
    draws, compared = random.Random(4), 0
    for _ in range(200):
        real: list[Any] = []
        ours: list[ClassValue] = []
        for number in range(10):
            chosen = draws.sample(range(number), min(number, draws.randrange(4)))
            try:
                real.append(type(f"C{number}", tuple(real[one] for one in chosen), {}))
            except TypeError:
                break  # Python has no order for it
            ours.append(value_of([ours[one] for one in chosen]))
            order = [real.index(one) for one in real[-1].__mro__ if one is not object]
            assert [ours.index(one) for one in ours[-1].mro()] == order
            compared += len(chosen) > 1
    assert compared > 100


def test_a_tower_of_bases() -> None:
    classes = [value_of([])]
    began = time.process_time()
    for number in range(1, 800):
        classes.append(value_of([classes[number - 1], *classes[number - 2 : number - 1]]))
        classes[-1].mro()
    assert time.process_time() - began < 4
