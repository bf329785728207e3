"""The range of integers in an array, from the smallest to the largest, if the program states it. Computed on demand.

A range is not just a bound: its ends are reached, or nearly so. A value with only a bound (a remainder, an `argmax`)
has no range.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from jaxlint.staging.shapes.answers import symbolic_shape
from jaxlint.staging.shapes.known import shape_of
from jaxlint.staging.shapes.measures import size_of
from jaxlint.staging.values.arrays import Array, NumpyArray, Operation
from jaxlint.staging.values.objects import ExternalObject, ListValue, TupleValue
from jaxlint.staging.values.parts import constant
from jaxlint.staging.values.plain import MISSING, Static, Value, is_none

MAX_DEPTH = 16
LARGEST_POWER = 4096  # limit on exponents and shifts
MOST_FACTORS = 4096
_BEYOND = 2**40  # of numbers without a bound, which a sample of some thousands may reach

_ARRANGING = frozenset(
    """reshape expand_dims squeeze transpose ravel flatten broadcast_to swapaxes moveaxis flip sort copy array asarray
    stop_gradient tile repeat roll""".split()  # noqa: SIM905
)
_JOINING = frozenset("concatenate stack hstack vstack column_stack append".split())  # noqa: SIM905
_INTEGERS = frozenset(
    {"", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "int*", "bool"}
)


@dataclass(frozen=True, slots=True)
class Range:
    """Integers from `low` to `high`, both reached, with average `mean` and multiples of `step`.

    `sources`: the operations that they vary with. `direction`: 1 if they increase along the axes of these, -1 if they
    decrease, otherwise 0. `is_drawn`: they are random.
    """

    low: int
    high: int
    mean: float | None
    step: int = 1
    sources: frozenset[int] = frozenset()
    direction: int = 0
    is_drawn: bool = False

    @property
    def is_constant(self) -> bool:
        return self.low == self.high

    @property
    def farthest(self) -> int:
        """The end farther from zero."""
        return self.high if abs(self.high) >= abs(self.low) else self.low


def range_of(value: Value | None, depth: int = MAX_DEPTH) -> Range | None:
    """The range of the integers in `value`; None if unknown."""
    if value is None or depth == 0:
        return None
    number = constant(value)
    if type(number) is int:
        return _single(number)
    if isinstance(value, (ListValue, TupleValue)):
        return _of_literal(number)
    if not isinstance(value, (Array, NumpyArray)) or value.dtype not in _INTEGERS:
        return None
    if isinstance(value, Array) and (value.tree or value.mixed):
        return None
    if value.made is None:
        form = value.form  # an argument inside a transformed function: the array outside, or a row of it
        seen = form is not None and (form.equal or form.how == "row")
        return range_of(form.of[0], depth - 1) if seen and form is not None else None
    return range_of_result(value.made, depth)


def occurring(value: Value | None, depth: int = MAX_DEPTH) -> frozenset[int]:
    """Integers that certainly occur in `value`, though others may occur too: those that the program writes among the
    items of a list."""
    if value is None or depth == 0:
        return frozenset()
    number = constant(value) if isinstance(value, Static) else None
    if type(number) is int:
        return frozenset({number})
    if isinstance(value, (ListValue, TupleValue)):
        items = value.head if value.items is None else value.items
        return frozenset().union(*(occurring(item, depth - 1) for item in items))
    if not isinstance(value, (Array, NumpyArray)) or value.dtype not in _INTEGERS:
        return frozenset()
    if isinstance(value, Array) and (value.tree or value.mixed):
        return frozenset()
    made = value.made
    if made is None:
        form = value.form
        seen = form is not None and (form.equal or form.how == "row")
        return occurring(form.of[0], depth - 1) if seen and form is not None else frozenset()
    if made.args and (made.name == "astype" or made.name in _ARRANGING or made.name in _JOINING):
        return frozenset().union(*(occurring(part, depth - 1) for part in made.args[:1]))
    if made.name == "getitem" and len(made.args) == 2 and _keeps_all(made.args[1]):
        return occurring(made.args[0], depth - 1)
    found = range_of_result(made, depth)
    return frozenset() if found is None else frozenset({found.low, found.high})


def _single(number: int) -> Range:
    return Range(number, number, float(number), abs(number))


def _of_literal(numbers: object) -> Range | None:
    """The range of a list of known numbers."""
    flat = _flat(numbers)
    if not flat or not all(type(number) is int for number in flat):
        return None
    return Range(min(flat), max(flat), sum(flat) / len(flat), math.gcd(*flat))


def _flat(numbers: object) -> list[int]:
    if isinstance(numbers, tuple):
        return [inner for number in numbers for inner in _flat(number)]
    return [numbers]  # type: ignore[list-item]


def range_of_result(made: Operation, depth: int = MAX_DEPTH) -> Range | None:
    """The range of an operation's result, without overflow."""
    name, args = made.name, made.args
    if not args and name != "arange":
        return None
    if name in _MAKING:
        return _MAKING[name](made)
    if name == "getitem" and len(args) == 2:
        return _of_item(made, depth)
    if name in _JOINING:
        return _of_joined(made, depth)
    if name == "clip":
        return _of_clip(made)
    if name == "where":
        return _of_where(made, depth)
    if name == "astype" or name in _ARRANGING:
        return range_of(args[0], depth - 1)
    if name in ("sum", "prod", "cumsum", "cumprod"):
        return _of_reduction(made, depth)
    if name == "negative":
        inner = range_of(args[0], depth - 1)
        return None if inner is None else _scaled(inner, -1)
    if len(args) != 2:
        return None
    one, two = range_of(args[0], depth - 1), range_of(args[1], depth - 1)
    if one is None or two is None:
        return None
    if name == "add":
        return _sum(one, two)
    if name == "subtract":
        return _sum(one, _scaled(two, -1))
    if name == "multiply":
        return _product(one, two)
    if name in ("power", "left_shift"):
        return _power(one, two, shifted=name == "left_shift")
    if name in ("remainder", "mod"):
        return _rest(made, one, two)
    if name in ("maximum", "minimum"):
        pick = max if name == "maximum" else min
        return Range(pick(one.low, two.low), pick(one.high, two.high), None) if _apart(one, two) else None
    return None


def _of_item(made: Operation, depth: int) -> Range | None:
    """The range of all elements, or of some: each random number may be any in its range."""
    inner = range_of(made.args[0], depth - 1)
    if inner is None or _keeps_all(made.args[1]):
        return inner
    part = frozenset({id(made)})
    return (
        Range(inner.low, inner.high, inner.mean, inner.step, part, is_drawn=True) if inner.is_drawn else None
    )


def _of_joined(made: Operation, depth: int) -> Range | None:
    """The range of several arrays in one: elements of all occur."""
    parts = made.args[0].items if isinstance(made.args[0], (ListValue, TupleValue)) else list(made.args[:2])
    ranges = [range_of(part, depth - 1) for part in parts or ()]
    known = [one for one in ranges if one is not None]
    if not known or len(known) != len(ranges):
        return None
    low, high = min(one.low for one in known), max(one.high for one in known)
    return Range(low, high, None, math.gcd(*(one.step for one in known)), frozenset({id(made)}))


def _of_where(made: Operation, depth: int) -> Range | None:
    """The range of the result of `where`: elements of both arrays occur."""
    if len(made.args) != 3:
        return None
    one, two = (range_of(part, depth - 1) for part in made.args[1:])
    if one is None or two is None:
        return None
    low, high = min(one.low, two.low), max(one.high, two.high)
    drawn = _is_drawn(one, two) and not (one.is_constant and two.is_constant)
    return Range(low, high, None, math.gcd(one.step, two.step), frozenset({id(made)}), is_drawn=drawn)


def _of_clip(made: Operation) -> Range | None:
    """The range between two bounds: a program that clips expects numbers outside them."""
    given = made.kwargs
    low = constant(made.operand(1, "min") or given.get("a_min"))
    high = constant(made.operand(2, "max") or given.get("a_max"))
    if type(low) is not int or type(high) is not int:
        return None
    return _drawn(made, low, high + 1)


def _keeps_all(index: Value) -> bool:
    """Whether an index only adds axes: `x[:, None]`."""
    parts = index.items if isinstance(index, TupleValue) else [index]
    for part in parts or [index]:
        whole = (
            isinstance(part, ExternalObject)
            and part.name == "builtins.slice"
            and all(map(is_none, part.args))
        )
        if not (whole or is_none(part) or constant(part) is Ellipsis):
            return False
    return True


def _apart(one: Range, two: Range) -> bool:
    """Whether all pairs of their values occur together: one is constant or random."""
    return one.sources.isdisjoint(two.sources) and (
        one.is_constant or two.is_constant or one.is_drawn or two.is_drawn
    )


def _direction(one: Range, two: Range) -> int:
    """The direction of a result computed from both, if their ends coincide; 0 if unknown."""
    if one.is_constant or two.is_constant:
        return two.direction if one.is_constant else one.direction
    return one.direction if one.direction == two.direction else 0


def _is_drawn(one: Range, two: Range) -> bool:
    return (one.is_drawn or one.is_constant) and (two.is_drawn or two.is_constant)


def _scaled(one: Range, factor: int) -> Range:
    low, high = sorted((one.low * factor, one.high * factor))
    mean = None if one.mean is None else one.mean * factor
    direction = one.direction * (1 if factor >= 0 else -1)
    return Range(low, high, mean, one.step * abs(factor), one.sources, direction, one.is_drawn)


def _sum(one: Range, two: Range) -> Range | None:
    direction = _direction(one, two)
    if not _apart(one, two) and not direction:
        return None
    mean = None if one.mean is None or two.mean is None else one.mean + two.mean
    sources = one.sources | two.sources
    return Range(
        one.low + two.low, one.high + two.high, mean, math.gcd(one.step, two.step), sources, direction
    )


def _product(one: Range, two: Range) -> Range | None:
    if one.is_constant or two.is_constant:
        return _scaled(two, one.low) if one.is_constant else _scaled(one, two.low)
    sources = one.sources | two.sources
    if _apart(one, two):
        ends = [a * b for a in (one.low, one.high) for b in (two.low, two.high)]
        mean = None if one.mean is None or two.mean is None else one.mean * two.mean
        return Range(min(ends), max(ends), mean, one.step * two.step, sources, is_drawn=_is_drawn(one, two))
    direction = _direction(one, two)
    if not direction or min(one.low, two.low) < 0:
        return None
    return Range(one.low * two.low, one.high * two.high, None, 1, sources, direction)


def _rest(made: Operation, one: Range, two: Range) -> Range | None:
    """The remainders of random numbers that go round at least once: they reach all, or the multiples of a common factor."""
    count = two.low
    if not two.is_constant or count <= 0 or one.high - one.low < count * one.step:
        return None
    factor = math.gcd(one.step, count)
    top = count - factor
    return Range(0, top, top / 2, factor, frozenset({id(made)}), is_drawn=True) if one.is_drawn else None


def _power(one: Range, two: Range, shifted: bool) -> Range | None:
    if not _apart(one, two) or min(one.low, two.low) < 0 or two.high > LARGEST_POWER:
        return None
    if shifted:
        return Range(one.low << two.low, one.high << two.high, None, 1, one.sources | two.sources)
    return Range(one.low**two.low, one.high**two.high, None, 1, one.sources | two.sources)


def _of_reduction(made: Operation, depth: int) -> Range | None:
    """The range of a sum or product over one axis or all axes."""
    operand = made.args[0]
    if not set(made.kwargs) <= {"axis", "keepdims"} or len(made.args) > 2:
        return None
    if made.name.endswith("prod"):
        return _of_factors(operand) if len(made.args) == 1 and "axis" not in made.kwargs else None
    inner, shape = range_of(operand, depth - 1), shape_of(operand)
    if inner is None or inner.mean is None or shape is None:
        return None
    axis = constant(made.operand(1, "axis")) if made.operand(1, "axis") is not None else None
    if axis is None:
        count = math.prod(shape)
    elif type(axis) is int and -len(shape) <= axis < len(shape):
        if len(shape) > 1 and not inner.is_constant:
            return None  # it is unknown along which of the axes it varies
        count = shape[axis]
    else:
        return None
    total = round(inner.mean * count)
    low = min(inner.low, total) if made.name == "cumsum" else total
    return Range(min(low, total), max(inner.high, total) if made.name == "cumsum" else total, None)


def _of_factors(operand: Value) -> Range | None:
    """The product of known numbers."""
    made = operand.made if isinstance(operand, (Array, NumpyArray)) else None
    numbers = constant(operand)
    if made is not None and made.name in ("array", "asarray") and made.args:
        numbers = constant(made.args[0])
    if made is not None and made.name == "arange":
        bounds = _bounds(made)
        numbers = (
            tuple(range(*bounds)) if bounds is not None and len(range(*bounds)) <= MOST_FACTORS else MISSING
        )
    flat = _flat(numbers)
    if not all(type(number) is int for number in flat) or len(flat) > MOST_FACTORS:
        return None
    return _single(math.prod(flat))


def _number(value: Value) -> Any:
    """A known number, also as the size of an axis."""
    number = constant(value)
    return size_of(value, symbolic_shape) if number is MISSING else number


def _bounds(made: Operation) -> tuple[int, int, int] | None:
    """Start, stop and step of an `arange`."""
    given = [*made.args[:3]]
    for position, keyword in enumerate(("start", "stop", "step")):
        if keyword in made.kwargs and position == len(given):
            given.append(made.kwargs[keyword])
    bounds = [_number(value) for value in given]
    if not bounds or not all(type(bound) is int for bound in bounds):
        return None
    start, stop, step = ([0, *bounds, 1] if len(bounds) == 1 else [*bounds, 1])[:3]
    return (start, stop, step) if step else None


def _of_arange(made: Operation) -> Range | None:
    bounds = _bounds(made)
    if bounds is None or not set(made.kwargs) <= {"start", "stop", "step", "dtype"}:
        return None
    numbers = range(*bounds)
    if not numbers:
        return None
    first, last = numbers[0], numbers[-1]
    rising = 1 if last >= first else -1
    return Range(
        min(first, last),
        max(first, last),
        (first + last) / 2,
        math.gcd(first, bounds[2]),
        frozenset({id(made)}),
        rising,
    )


def _of_draw(made: Operation) -> Range | None:
    """The range of `jax.random.randint(key, shape, minval, maxval)`."""
    low, stop = constant(made.operand(2, "minval")), constant(made.operand(3, "maxval"))
    return _drawn(made, low, stop)


def _of_numpy_draw(made: Operation) -> Range | None:
    """The range of `numpy.random.randint(low, high)` and of a generator's `integers`."""
    low, high = made.operand(0, "low"), made.operand(1, "high")
    if "endpoint" in made.kwargs:
        return None
    if high is None or is_none(high):
        return _drawn(made, 0, constant(low))
    return _drawn(made, constant(low), constant(high))


def _of_zipf(made: Operation) -> Range | None:
    """The range of `numpy.random.zipf(a)`, whose numbers have no mean up to `a` of 2: some are beyond any bound."""
    exponent = constant(made.operand(0, "a"))
    return _drawn(made, 1, _BEYOND) if isinstance(exponent, (int, float)) and 1 < exponent <= 2 else None


def _of_choice(made: Operation) -> Range | None:
    """The range of `jax.random.permutation(key, n)` and `jax.random.choice(key, n)`."""
    return _drawn(made, 0, constant(made.operand(1, "x") or made.kwargs.get("a")))


def _drawn(made: Operation, low: object, stop: object) -> Range | None:
    if type(low) is not int or type(stop) is not int or stop <= low:
        return None
    return Range(low, stop - 1, (low + stop - 1) / 2, 1, frozenset({id(made)}), is_drawn=True)


def _of_iota(made: Operation) -> Range | None:
    size = constant(made.operand(1, "size" if made.name == "iota" else "shape"))
    if made.name == "broadcasted_iota":
        axis = constant(made.operand(2, "dimension"))
        known = isinstance(size, tuple) and type(axis) is int and -len(size) <= axis < len(size)
        size = size[axis] if known else MISSING
    if type(size) is not int or size <= 0:
        return None
    return Range(0, size - 1, (size - 1) / 2, 1, frozenset({id(made)}), 1)


def _of_filled(made: Operation) -> Range | None:
    number = constant(made.operand(1, "fill_value")) if made.name == "full" else int(made.name == "ones")
    return _single(number) if type(number) is int else None


_MAKING = {
    "arange": _of_arange,
    "iota": _of_iota,
    "broadcasted_iota": _of_iota,
    "jax.random.randint": _of_draw,
    "jax.random.permutation": _of_choice,
    "jax.random.choice": _of_choice,
    "numpy.random.randint": _of_numpy_draw,
    "numpy.random.integers": _of_numpy_draw,
    "numpy.random.zipf": _of_zipf,
    "full": _of_filled,
    "ones": _of_filled,
    "zeros": _of_filled,
}
