"""The rank of a result of which no size is known, in an exact analysis."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from jaxlint.staging.shapes.answers import symbolic_shape
from jaxlint.staging.values.arrays import Operation
from jaxlint.staging.values.objects import ListValue, TupleValue
from jaxlint.staging.values.parts import constant
from jaxlint.staging.values.plain import StarArgument, Value

# Functions whose result has the rank of their first operand, whatever the other arguments are.
_OF_THE_FIRST = frozenset(
    """numpy.pad lax.pad numpy.roll numpy.flip lax.rev numpy.argsort lax.sort numpy.moveaxis numpy.swapaxes numpy.transpose
    numpy.permute_dims lax.transpose lax.conv_general_dilated lax.conv lax.conv_transpose lax.reduce_window
    lax.dynamic_slice lax.dynamic_slice_in_dim lax.dynamic_update_slice lax.dynamic_update_slice_in_dim
    lax.dynamic_update_index_in_dim lax.slice lax.slice_in_dim numpy.take_along_axis numpy.tril numpy.triu
    numpy.concatenate lax.concatenate numpy.concat""".split()  # noqa: SIM905
)
_OPERANDS = ("operand", "lhs", "x", "a", "m", "array", "arr", "arrays", "operands")


def rank_of(made: Operation) -> int | None:
    """The rank of an operation's result; None if it is unknown."""
    name = (made.full or f"numpy.{made.name}").removeprefix("jax.")
    if any(isinstance(value, StarArgument) for value in made.args) or "**" in made.kwargs:
        return None
    if name in _OF_THE_FIRST:
        return _rank(_first(made.args, made.kwargs))
    rule = _RULES.get(name)
    return None if rule is None else rule(made)


def _first(args: Sequence[Value], kwargs: Mapping[str, Value]) -> Value | None:
    return args[0] if args else next((kwargs[name] for name in _OPERANDS if name in kwargs), None)


def _rank(value: Value | None) -> int | None:
    """The rank of an array, or of any of several that are joined."""
    if value is None:
        return None
    if isinstance(value, (ListValue, TupleValue)):
        ranks = [shape for part in value.elements() if (shape := symbolic_shape(part)) is not None]
        return len(ranks[0]) if ranks else None
    shape = symbolic_shape(value)
    return None if shape is None else len(shape)


def _of_einsum(made: Operation) -> int | None:
    """The subscripts say how many axes the result has."""
    pattern = constant(made.args[0]) if made.args else None
    if not isinstance(pattern, str) or "->" not in pattern:
        return None
    result = pattern.partition("->")[2].replace(" ", "")
    return None if "." in result else len(result)


def _of_reshape(made: Operation) -> int | None:
    """The arguments say how many axes the result has."""
    given = made.args[1:] or [made.kwargs[name] for name in ("shape", "newshape") if name in made.kwargs]
    if len(given) != 1:
        return len(given) or None
    sizes = given[0]
    if not isinstance(sizes, (TupleValue, ListValue)):
        return 1 if type(constant(sizes)) is int else None
    if sizes.items is None or any(isinstance(part, StarArgument) for part in sizes.items):
        return None
    return len(sizes.items)


_RULES: dict[str, Callable[[Operation], int | None]] = {
    "numpy.einsum": _of_einsum,
    "numpy.reshape": _of_reshape,
    "lax.reshape": _of_reshape,
}
