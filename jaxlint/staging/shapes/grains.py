"""How far the numbers of a NumPy array are from zero, and from each other, if the program states it. Computed on demand.

A float32 has 24 bits: far from zero, it cannot tell numbers apart that differ by little. Dates, times since 1970 and
coordinates are such numbers, if nothing is subtracted on the host.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace

from jaxlint.staging.values.arrays import Array, NumpyArray, Operation
from jaxlint.staging.values.objects import ListValue, TupleValue
from jaxlint.staging.values.parts import constant
from jaxlint.staging.values.plain import Value

MAX_DEPTH = 12
_LONGEST = 1000  # of a list of numbers
_KEEPING = frozenset(
    """reshape expand_dims squeeze transpose ravel flatten broadcast_to swapaxes moveaxis flip sort copy array asarray
    repeat tile roll""".split()  # noqa: SIM905
)


@dataclass(frozen=True, slots=True)
class Grain:
    """Numbers from `low` to `high`, of which those that lie next to each other differ by `step`. Random numbers count
    as far apart as they spread."""

    low: float
    high: float
    step: float

    @property
    def nearest(self) -> float:
        """The least distance from zero."""
        return 0.0 if self.low <= 0 <= self.high else min(abs(self.low), abs(self.high))

    @property
    def spacing(self) -> float:
        """How far float32 numbers of their size are apart."""
        return spacing(self.nearest)

    @property
    def is_lost(self) -> bool:
        """Whether float32 certainly gives several of them one number."""
        return 0 < self.step < self.spacing / 2


def spacing(number: float) -> float:
    """How far float32 numbers are apart at `number`."""
    return 2.0 ** (math.frexp(number)[1] - 24) if number else 0.0


def grain_of(value: Value | None, depth: int = MAX_DEPTH) -> Grain | None:
    """The grain of the numbers in a NumPy array; None if unknown."""
    if value is None or depth == 0:
        return None
    if isinstance(value, (ListValue, TupleValue)):
        return _of_numbers(constant(value))
    made = value.made if isinstance(value, (Array, NumpyArray)) else None
    if made is None:
        return None
    name, args = made.name, made.args
    if name in _MADE:
        return _MADE[name](made)
    if not args:
        return None
    if name in _KEEPING or (name == "astype" and isinstance(value, NumpyArray) and value.dtype == "float64"):
        return grain_of(args[0], depth - 1)
    if name == "cumsum" and len(args) == 1:
        inner = grain_of(args[0], depth - 1)
        # Steps forward: the sum leaves the first of them behind.
        return (
            replace(inner, high=max(inner.high, inner.step)) if inner is not None and inner.low >= 0 else None
        )
    if len(args) != 2:
        return None
    if name in ("add", "subtract"):
        return _moved(args, 1 if name == "add" else -1, depth)
    if name in ("multiply", "divide", "true_divide"):
        return _stretched(args, name == "multiply", depth)
    return None


def _number(value: Value | None) -> float | None:
    found = constant(value) if value is not None else None
    return float(found) if isinstance(found, (int, float)) and math.isfinite(found) else None


def _moved(args: tuple[Value, ...], sign: int, depth: int) -> Grain | None:
    """The sum of two arrays, or of an array and a number."""
    parts = []
    for value in args:
        number = _number(value)
        parts.append(grain_of(value, depth - 1) if number is None else Grain(number, number, 0.0))
    one, two = parts
    if one is None or two is None:
        return None
    low, high = (two.low, two.high) if sign > 0 else (-two.high, -two.low)
    return Grain(one.low + low, one.high + high, max(one.step, two.step))


def _stretched(args: tuple[Value, ...], times: bool, depth: int) -> Grain | None:
    """The product or quotient of an array and a number."""
    for place, value in enumerate(args):
        number = _number(value)
        inner = grain_of(args[1 - place], depth - 1) if number else None
        if inner is None or not number or (place == 0 and not times):
            continue
        factor = number if times else 1 / number
        low, high = sorted((inner.low * factor, inner.high * factor))
        return Grain(low, high, inner.step * abs(factor))
    return None


def _of_numbers(numbers: object) -> Grain | None:
    """The grain of numbers that are written down: the least difference of two of them."""
    if not isinstance(numbers, tuple) or not 1 < len(numbers) <= _LONGEST:
        return None
    if not all(type(number) in (int, float) and math.isfinite(number) for number in numbers):
        return None
    ordered = sorted(set(numbers))
    steps = [after - before for before, after in itertools.pairwise(ordered)]
    return Grain(ordered[0], ordered[-1], min(steps)) if steps else None


def _of_arange(made: Operation) -> Grain | None:
    given = [_number(value) for value in made.args]
    if not given or None in given or not made.kwargs.keys() <= {"dtype", "step"}:
        return None
    bounds = [number for number in given if number is not None]
    step = bounds[2] if len(bounds) > 2 else 1.0
    if "step" in made.kwargs:
        step = _number(made.kwargs["step"]) or 0.0
    low, high = (0.0, bounds[0]) if len(bounds) == 1 else (bounds[0], bounds[1])
    return Grain(low, high, step) if step > 0 and high - low > step else None


def _of_linspace(made: Operation) -> Grain | None:
    low, high = _number(made.operand(0, "start")), _number(made.operand(1, "stop"))
    count = _number(made.operand(2, "num")) if made.operand(2, "num") is not None else 50.0
    if low is None or high is None or count is None or count < 2 or high <= low:
        return None
    return Grain(low, high, (high - low) / (count - 1))


def _spread(low: float | None, high: float | None) -> Grain | None:
    return Grain(low, high, high - low) if low is not None and high is not None and high > low else None


def _of_uniform(made: Operation) -> Grain | None:
    low, high = made.operand(0, "low"), made.operand(1, "high")
    return _spread(0.0 if low is None else _number(low), 1.0 if high is None else _number(high))


def _of_normal(made: Operation) -> Grain | None:
    loc, scale = made.operand(0, "loc"), made.operand(1, "scale")
    middle, width = 0.0 if loc is None else _number(loc), 1.0 if scale is None else _number(scale)
    return (
        _spread(middle - 4 * width, middle + 4 * width) if middle is not None and width is not None else None
    )


def _of_exponential(made: Operation) -> Grain | None:
    scale = made.operand(0, "scale")
    width = 1.0 if scale is None else _number(scale)
    return _spread(0.0, 4 * width) if width is not None else None


_MADE = {
    "arange": _of_arange,
    "linspace": _of_linspace,
    "numpy.random.uniform": _of_uniform,
    "numpy.random.normal": _of_normal,
    "numpy.random.exponential": _of_exponential,
    **dict.fromkeys(["numpy.random.random", "numpy.random.rand"], lambda made: Grain(0.0, 1.0, 1.0)),
    **dict.fromkeys(
        ["numpy.random.standard_normal", "numpy.random.randn"], lambda made: Grain(-4.0, 4.0, 8.0)
    ),
}
