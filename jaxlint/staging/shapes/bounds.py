"""The interval that the numbers of an array lie in, and whether they reach its ends. Computed on demand.

An end is reached where floats get there: a function rounds to its limit (`tanh` is 1 from 9 on), provided that its
argument is not known to be small, or an empty group has the sum 0. An end that is only a bound, as for a draw, is not.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from jaxlint.staging.shapes.ranges import range_of
from jaxlint.staging.values.arrays import Array, NumpyArray, Operation
from jaxlint.staging.values.parts import constant
from jaxlint.staging.values.plain import Static, Value, is_none

MAX_DEPTH = 12
_INF = math.inf
_VIEWS = frozenset(
    """reshape expand_dims squeeze transpose ravel flatten broadcast_to swapaxes moveaxis flip copy array asarray
    stop_gradient tile repeat roll getitem astype""".split()  # noqa: SIM905
)


@dataclass(frozen=True, slots=True)
class Bounds:
    """Numbers from `low` to `high`. `at_low`, `at_high`: why they reach that end; "" if they may not."""

    low: float = -_INF
    high: float = _INF
    at_low: str = ""
    at_high: str = ""

    @property
    def is_number(self) -> bool:
        return self.low == self.high

    def why_at(self, number: float) -> str:
        """Why they reach `number`, one of their ends; "" if they may not."""
        if self.is_number:
            return ""
        return (self.at_low if self.low == number else "") or (self.at_high if self.high == number else "")


ANY = Bounds()
_ZERO, _ONE = Bounds(0.0, 0.0), Bounds(1.0, 1.0)
_FILLED = {
    "zeros": _ZERO,
    "zeros_like": _ZERO,
    "ones": _ONE,
    "ones_like": _ONE,
    "full": ANY,
    "full_like": ANY,
}


def bounds_of(value: Value | None, depth: int = MAX_DEPTH) -> Bounds:
    """The interval of the numbers in `value`."""
    if value is None or depth == 0:
        return ANY
    number = constant(value) if isinstance(value, Static) else None
    if isinstance(number, (int, float)) and not math.isnan(number):
        return Bounds(float(number), float(number))
    if not isinstance(value, (Array, NumpyArray)) or (
        isinstance(value, Array) and (value.tree or value.mixed)
    ):
        return ANY
    made = value.made
    if made is None:
        form = value.form
        seen = form is not None and (form.equal or form.how == "row")
        return bounds_of(form.of[0], depth - 1) if seen and form is not None else ANY
    found = _of_result(made, depth)
    if found is ANY:
        counted = range_of(value)
        if counted is not None:
            return Bounds(float(counted.low), float(counted.high))
    return found


def starts_at(value: Value | None, depth: int = MAX_DEPTH) -> float | None:
    """The number that a loop carry begins with, perhaps in another view; None if unknown."""
    if not isinstance(value, Array) or value.tree or value.mixed or depth == 0:
        return None
    if value.made is not None:
        made = value.made
        return starts_at(made.args[0], depth - 1) if made.name in _VIEWS and made.args else None
    form = value.form
    if form is None or not form.of or form.how:
        return None
    if not form.first:
        return starts_at(form.of[0], depth - 1) if form.equal else None
    found = bounds_of(form.of[0], depth - 1)
    return found.low if found.is_number else None


def _of_result(made: Operation, depth: int) -> Bounds:
    name, args = made.name, made.args
    if not args:
        return ANY
    if name in _FILLED:
        return bounds_of(made.operand(1, "fill_value")) if name.startswith("full") else _FILLED[name]
    if name in _VIEWS:
        return bounds_of(args[0], depth - 1)
    if name in _OF_ONE:
        return _OF_ONE[name](bounds_of(args[0], depth - 1))
    if name == "clip":
        ends = (
            made.operand(1, "min") or made.kwargs.get("a_min"),
            made.operand(2, "max") or made.kwargs.get("a_max"),
        )
        low, high = (bounds_of(end, depth - 1) for end in ends)
        found = _clipped(bounds_of(args[0], depth - 1), low.low, high.high)
        unknown = [
            end is not None and not is_none(end) and not seen.is_number
            for end, seen in zip(ends, (low, high), strict=True)
        ]  # such a bound may keep the values from the end that they would reach
        return replace(
            found, at_low="" if unknown[0] else found.at_low, at_high="" if unknown[1] else found.at_high
        )
    if name == "power" and constant(args[1] if len(args) > 1 else None) in (2, 2.0):
        return _squared(bounds_of(args[0], depth - 1))
    if len(args) != 2:
        return ANY
    if args[0] is args[1] and name in _OF_SAME:
        return _OF_SAME[name](bounds_of(args[0], depth - 1))
    operation = _OF_TWO.get(name)
    if operation is None:
        return ANY
    return operation(bounds_of(args[0], depth - 1), bounds_of(args[1], depth - 1))


def _saturating(least: float, most: float, from_: float, text: str) -> Callable[[Bounds], Bounds]:
    """A rising function that rounds to its limits `least` and `most` beyond -`from_` and `from_`.

    `least` is rounded to only if it is not zero: floats are dense there.
    """

    def applied(inner: Bounds) -> Bounds:
        low = f"`{text}` rounds to {least:g} below {-from_:g}" if inner.low < -from_ and least else ""
        high = f"`{text}` rounds to {most:g} above {from_:g}" if inner.high > from_ else ""
        return Bounds(least, most, low, high)

    return applied


def _softmax(inner: Bounds) -> Bounds:
    return Bounds(0.0, 1.0, "", "`softmax` rounds to 1 for a large logit")


def _negative(inner: Bounds) -> Bounds:
    return Bounds(-inner.high, -inner.low, inner.at_high, inner.at_low)


def _squared(inner: Bounds) -> Bounds:
    ends = [(abs(inner.low), inner.at_low), (abs(inner.high), inner.at_high)]
    most = max(end for end, _ in ends)
    at_most = next((why for end, why in ends if end == most and why), "")
    if inner.low <= 0 <= inner.high:
        return Bounds(0.0, most * most, inner.why_at(0.0), at_most)
    least = min(end for end, _ in ends)
    return Bounds(
        least * least, most * most, next((why for end, why in ends if end == least and why), ""), at_most
    )


def _absolute(inner: Bounds) -> Bounds:
    squared = _squared(inner)
    return replace(squared, low=math.sqrt(squared.low), high=math.sqrt(squared.high))


def _exp(inner: Bounds) -> Bounds:
    high = math.exp(inner.high) if inner.high < 700 else _INF
    return Bounds(math.exp(inner.low) if inner.low > -700 else 0.0, high, "", inner.at_high)


def _clipped(inner: Bounds, low: float, high: float) -> Bounds:
    """Clips to two bounds. The program reaches these on purpose, so they prove nothing."""
    least, most = (min(max(end, low), high) for end in (inner.low, inner.high))
    return Bounds(
        least, most, inner.at_low if inner.low == least else "", inner.at_high if inner.high == most else ""
    )


def _add(one: Bounds, two: Bounds) -> Bounds:
    """The sum. Both reach their ends together only where one of them is a number."""
    low = one.at_low if two.is_number else two.at_low if one.is_number else ""
    high = one.at_high if two.is_number else two.at_high if one.is_number else ""
    return (
        Bounds(one.low + two.low, one.high + two.high, low, high) if _are_finite(one, two) else _sum(one, two)
    )


def _are_finite(*parts: Bounds) -> bool:
    return all(math.isfinite(end) for part in parts for end in (part.low, part.high))


def _sum(one: Bounds, two: Bounds) -> Bounds:
    low = -_INF if -_INF in (one.low, two.low) else one.low + two.low
    high = _INF if _INF in (one.high, two.high) else one.high + two.high
    return Bounds(low, high)


def _subtract(one: Bounds, two: Bounds) -> Bounds:
    return _add(one, _negative(two))


def _multiply(one: Bounds, two: Bounds) -> Bounds:
    """The product. It is zero where a factor is, whatever the other is."""
    if one.is_number or two.is_number:
        number, other = (one.low, two) if one.is_number else (two.low, one)
        if number == 0 or not math.isfinite(number):
            return _ZERO if number == 0 else ANY
        low, high = (end * abs(number) for end in (other.low, other.high))
        scaled = Bounds(low, high, other.at_low, other.at_high)
        return scaled if number > 0 else _negative(scaled)
    zero = one.why_at(0.0) or two.why_at(0.0)
    if one.low >= 0 and two.low >= 0:
        return Bounds(one.low * two.low if zero == "" else 0.0, _INF, zero)
    return ANY


def _maximum(one: Bounds, two: Bounds) -> Bounds:
    low, high = max(one.low, two.low), max(one.high, two.high)
    if one.is_number or two.is_number:
        number, other = (one.low, two) if one.is_number else (two.low, one)
        return Bounds(low, high, other.at_low if other.low > number else "", other.at_high)
    return Bounds(low, high)


def _minimum(one: Bounds, two: Bounds) -> Bounds:
    return _negative(_maximum(_negative(one), _negative(two)))


def _mean(inner: Bounds) -> Bounds:
    return Bounds(inner.low, inner.high)


def _groups(inner: Bounds) -> Bounds:
    """The sums over groups of numbers above zero: zero only for a group without elements."""
    return Bounds(0.0, _INF, "the sum of an empty segment is 0") if inner.low > 0 else ANY


_OF_ONE: dict[str, Callable[[Bounds], Bounds]] = {
    "tanh": _saturating(-1.0, 1.0, 9.0, "tanh"),
    "sigmoid": _saturating(0.0, 1.0, 17.0, "sigmoid"),
    "logistic": _saturating(0.0, 1.0, 17.0, "logistic"),
    "expit": _saturating(0.0, 1.0, 17.0, "expit"),
    "erf": _saturating(-1.0, 1.0, 4.0, "erf"),
    "softmax": _softmax,
    "negative": _negative,
    "square": _squared,
    "absolute": _absolute,
    "exp": _exp,
    "mean": _mean,
    "max": _mean,
    "min": _mean,
    "jax.ops.segment_sum": _groups,
    "bincount": lambda inner: Bounds(0.0, _INF, "the count of an absent number is 0"),
    "sin": lambda inner: Bounds(-1.0, 1.0),
    "cos": lambda inner: Bounds(-1.0, 1.0),
}
# Of an array and itself.
_OF_SAME: dict[str, Callable[[Bounds], Bounds]] = {
    "add": lambda inner: _multiply(inner, Bounds(2.0, 2.0)),
    "subtract": lambda inner: _ZERO,
    "multiply": _squared,
    "maximum": lambda inner: inner,
    "minimum": lambda inner: inner,
}
_OF_TWO: dict[str, Callable[[Bounds, Bounds], Bounds]] = {
    "add": _add,
    "subtract": _subtract,
    "multiply": _multiply,
    "maximum": _maximum,
    "minimum": _minimum,
}
