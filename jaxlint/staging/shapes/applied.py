"""An operation as shape rules see it: the shapes, sizes and numbers of its arguments."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import NoReturn, TypeVar

from jaxlint.staging.shapes.measures import size_of, sizes_in
from jaxlint.staging.values.arrays import Array, NumpyArray, Operation, Shape
from jaxlint.staging.values.objects import AtIndexer, ListValue, TupleValue
from jaxlint.staging.values.parts import constant
from jaxlint.staging.values.plain import MISSING, Measured, OptionalName, StarArgument, Value, is_none
from jaxlint.staging.values.sizes import Size, differ, symbol, written


class UnclearError(Exception):
    """The shape is unknown."""


class MisfitError(Exception):
    """The operation certainly fails: its operands do not fit.

    `operands`: those in question, with their shapes. `error`: the exception that JAX raises.
    """

    def __init__(self, message: str, *operands: tuple[Value, Shape], error: str = "ValueError") -> None:
        super().__init__(message)
        self.message = message
        self.operands = operands
        self.error = error


Result = Shape | list[Shape]  # a list: for each of several arrays
ShapeRule = Callable[["Applied"], Result]
_R = TypeVar("_R", bound=ShapeRule)
RULES: dict[str, ShapeRule] = {}


def shapes(*names: str) -> Callable[[_R], _R]:
    """Decorates the shape rule for these names below `jax`: "numpy.sum lax.reduce_sum"."""

    def register(rule: _R) -> _R:
        for name in " ".join(names).split():
            if name in RULES:
                raise ValueError(f"two rules of the shape of {name}")
            RULES[name] = rule
        return rule

    return register


def shape_text(shape: Sequence[Size]) -> str:
    """`(B, 4)`."""
    inner = ", ".join(map(written, shape))
    return f"({inner},)" if len(shape) == 1 else f"({inner})"


def _with_one_shape(made: Operation, name: str) -> tuple[Value, ...]:
    """The arguments of `x.reshape(*x.shape[:-1], 4, 16)`, as if they were one tuple."""
    parts: list[Value] = []
    for argument in made.args[1:]:
        if isinstance(argument, StarArgument):
            if argument.sizes is None:
                raise UnclearError
            parts.append(TupleValue(None, measured=argument.sizes))
        else:
            parts.append(argument)
    if not name.endswith("numpy.reshape") or isinstance(made.args[0], StarArgument):
        raise UnclearError
    return made.args[0], TupleValue(None, measured=Measured("joined", tuple(parts)))


class Applied:
    """One operation with its arguments."""

    __slots__ = ("args", "kwargs", "made", "name", "of")

    def __init__(self, made: Operation, name: str, of: Callable[[Value], Shape | None]) -> None:
        self.made = made
        self.name = name
        self.args = made.args
        self.kwargs = made.kwargs
        self.of = of
        if made.kwargs and ("**" in made.kwargs or OptionalName in map(type, made.kwargs)):
            raise UnclearError
        if StarArgument in map(type, made.args):
            self.args = _with_one_shape(made, name)
        if isinstance(made.node, ast.Call):
            for keyword in made.node.keywords:
                if keyword.arg is None:
                    raise UnclearError

    def unclear(self) -> NoReturn:
        raise UnclearError

    def given(self, position: int, *names: str) -> Value | None:
        """An argument by position or name; None if it is absent or None."""
        value = self.args[position] if 0 <= position < len(self.args) else None
        for name in names:
            if value is None:
                value = self.kwargs.get(name)
        return None if value is None or is_none(value) else value

    def needed(self, position: int, *names: str) -> Value:
        value = self.given(position, *names)
        if value is None:
            raise UnclearError
        return value

    def only(self, *options: str) -> None:
        """Only these arguments are passed by name."""
        if not self.kwargs.keys() <= set(options):
            raise UnclearError

    def shape_of(self, value: Value) -> Shape:
        """The shape of a value as an array, or of a list of numbers or arrays."""
        found = self.of(value)
        if found is None:
            raise UnclearError
        return found

    def shape(self, position: int, *names: str) -> Shape:
        return self.shape_of(self.needed(position, *names))

    def sizes(self, position: int, *names: str) -> Shape:
        """The argument as a shape: `(B, 4)`, or one number."""
        return self.sizes_of(self.needed(position, *names))

    def sizes_of(self, value: Value) -> Shape:
        found = sizes_in(value, self.of)
        if found is None:
            raise UnclearError
        return found

    def size(self, position: int, *names: str, otherwise: Size | None = None) -> Size:
        """The argument as a size; a symbol if the size is unknown."""
        value = self.given(position, *names)
        if value is None:
            if otherwise is None:
                raise UnclearError
            return otherwise
        found = size_of(value, self.of)
        return symbol("?") if found is None else found

    def number(self, position: int, *names: str, otherwise: int | None = None) -> int:
        """The argument as a known integer."""
        value = self.given(position, *names)
        if value is None:
            if otherwise is None:
                raise UnclearError
            return otherwise
        const = constant(value)
        if type(const) is int:
            return const
        found = size_of(value, self.of)
        if type(found) is not int:
            raise UnclearError
        return found

    def numbers(self, position: int, *names: str) -> tuple[int, ...]:
        """The argument as a tuple of known integers; a single number counts as a tuple of one."""
        value = self.needed(position, *names)
        const = constant(TupleValue(value.items) if isinstance(value, ListValue) else value)
        found = const if isinstance(const, tuple) else (const,)
        if not all(type(number) is int for number in found):
            raise UnclearError
        return found

    def flag(self, position: int, name: str, otherwise: bool = False) -> bool:
        value = self.given(position, name)
        if value is None:
            return otherwise
        const = constant(value)
        if type(const) is not bool:
            raise UnclearError
        return const

    def text(self, position: int, *names: str) -> str:
        const = constant(self.needed(position, *names))
        if not isinstance(const, str):
            raise UnclearError
        return const

    def const(self, value: Value | None) -> object:
        const = constant(value)
        if const is MISSING:
            raise UnclearError
        return const

    def axis(self, rank: int, position: int, *names: str, otherwise: int | None = None) -> int:
        """An axis as a nonnegative index. Raises MisfitError if there is no such axis."""
        return self.axis_in(self.number(position, *names, otherwise=otherwise), rank)

    def axis_in(self, axis: int, rank: int) -> int:
        if not -rank <= axis < rank:
            # TypeError or ValueError at run time, for an array that an unknown value may be.
            raise UnclearError
        return axis % rank

    def axes(self, rank: int, position: int, *names: str) -> tuple[int, ...]:
        found = tuple(self.axis_in(axis, rank) for axis in self.numbers(position, *names))
        return found if len(set(found)) == len(found) else self.unclear()

    def axes_of(self, value: Value, rank: int) -> tuple[int, ...]:
        const = constant(value)
        if not isinstance(const, tuple) or not all(type(number) is int for number in const):
            raise UnclearError
        found = tuple(self.axis_in(axis, rank) for axis in const)
        return found if len(set(found)) == len(found) else self.unclear()

    def items(self, value: Value) -> list[Value]:
        """The parts of a known list or tuple, or the rows of an array with a known number of rows."""
        if isinstance(value, (ListValue, TupleValue)):
            if value.items is None or any(isinstance(item, StarArgument) for item in value.items):
                raise UnclearError
            return value.items
        raise UnclearError

    def plain(self, value: Value) -> Value:
        return value.array if isinstance(value, AtIndexer) else value


def broadcast(applied: Applied, *operands: Value) -> Shape:
    """The shape of an elementwise operation. Raises MisfitError if two operands certainly do not fit."""
    known = [(operand, applied.shape_of(applied.plain(operand))) for operand in operands]
    return broadcast_shapes(known)


def broadcast_shapes(known: Sequence[tuple[Value, Shape]]) -> Shape:
    result: list[Size] = []
    sources: list[tuple[Value, Shape]] = []  # for each size, from the back
    for operand, shape in known:
        for place, size in enumerate(reversed(shape)):
            if place == len(result):
                result.append(size)
                sources.append((operand, shape))
                continue
            have = result[place]
            if have == size or size == 1:
                continue
            if have == 1:
                result[place], sources[place] = size, (operand, shape)
                continue
            if differ(have, size) and differ(have, 1) and differ(size, 1):
                other = sources[place]
                raise MisfitError(
                    f"shapes {shape_text(other[1])} and {shape_text(shape)} do not broadcast: sizes {written(have)} and {written(size)} differ",
                    other,
                    (operand, shape),
                    # an operator on equal ranks checks its operands itself
                    error="TypeError" if len(known) == 2 and len(other[1]) == len(shape) else "ValueError",
                )
            result[place] = _either(have, size)
            if result[place] == size:
                sources[place] = (operand, shape)
    return tuple(reversed(result))


def _either(have: Size, size: Size) -> Size:
    """The broadcast of two sizes, either of which may be 1: an integer other than 1, or an unknown size."""
    if isinstance(have, int):
        return have
    if isinstance(size, int):
        return size
    if not differ(have, 1):
        return size if differ(size, 1) else symbol("?")
    return have


def same_size(one: Size, two: Size) -> Size:
    """Of two sizes that are equal at run time, the more specific one."""
    return one if isinstance(one, int) or not isinstance(two, int) else two


def is_array(value: Value | None) -> bool:
    return isinstance(value, (Array, NumpyArray))
