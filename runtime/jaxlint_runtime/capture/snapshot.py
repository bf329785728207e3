"""Copies of a call's arguments on the host, under a byte budget.

They are copied before the call, since donation may delete the buffers. NumPy arrays, which the program may modify
later, are copied too. Everything else is stored by reference.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from jaxlint_runtime.lowering.jit_options import Parameters
from jaxlint_runtime.model import CapturedCall


class Refused(Exception):
    """The arguments cannot be stored; the message gives the reason and what to do."""


class Budget:
    """Bytes for all stored calls together."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.used = 0

    def exchange(self, old: int, new: int) -> None:
        """Returns `old` bytes and takes `new`. Raises Refused, with nothing changed, if they do not fit."""
        if self.used - old + new > self.limit:
            raise Refused(
                f"its arguments take {_size(new)}, more than the {_size(self.limit - self.used + old)} left for "
                f"captured arrays (of {_size(self.limit)}; raise it with --capture-bytes)"
            )
        self.used += new - old


def _size(number: int) -> str:
    value = float(number)
    for unit in ("bytes", "KiB", "MiB"):
        if value < 1024:
            return f"{value:.0f} {unit}" if unit == "bytes" else f"{value:.1f} {unit}"
        value /= 1024
    return f"{value:.1f} GiB"


def count_bytes(parameters: Parameters, args: Sequence[Any], kwargs: Mapping[str, Any]) -> int:
    """The bytes of the argument arrays on the host."""
    from jax import tree_util

    total = 0
    for value in _dynamic(parameters, args, kwargs):
        for leaf in tree_util.tree_leaves(value):
            total += _bytes_here(leaf)
    return total


def _bytes_here(leaf: Any) -> int:
    if getattr(leaf, "is_fully_addressable", True):
        return int(getattr(leaf, "nbytes", 0) or 0)
    return sum(int(shard.data.nbytes) for shard in leaf.addressable_shards)


def take(
    parameters: Parameters,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    spanning: Callable[[Any], Any] | None = None,
) -> CapturedCall:
    """Copies the arguments to the host. Raises Refused for arrays that this process cannot read, unless `spanning` copies
    its part of them."""
    from jax import tree_util

    def split(value: Any, static: bool) -> tuple[Any, Any]:
        if static:
            return value, value
        leaves, structure = tree_util.tree_flatten(value)
        copies = [_copy(leaf, spanning) for leaf in leaves]
        avals = [_aval(leaf) for leaf in leaves]
        return tree_util.tree_unflatten(structure, copies), tree_util.tree_unflatten(structure, avals)

    positional = [split(v, parameters.is_static_position(i, len(args))) for i, v in enumerate(args)]
    named = {name: split(v, name in parameters.static_names) for name, v in kwargs.items()}
    return CapturedCall(
        args=tuple(copy for copy, _ in positional),
        kwargs={name: copy for name, (copy, _) in named.items()},
        avals=(tuple(aval for _, aval in positional), {name: aval for name, (_, aval) in named.items()}),
    )


def _dynamic(parameters: Parameters, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Any]:
    found = [v for i, v in enumerate(args) if not parameters.is_static_position(i, len(args))]
    return found + [v for name, v in kwargs.items() if name not in parameters.static_names]


def _copy(leaf: Any, spanning: Callable[[Any], Any] | None) -> Any:
    import jax
    import numpy

    if isinstance(leaf, numpy.ndarray):
        return leaf.copy()
    if not isinstance(leaf, jax.Array):
        return leaf
    if not leaf.is_fully_addressable:
        if spanning is not None:
            return spanning(leaf)
        raise Refused("its arguments are sharded over several processes")
    if jax.dtypes.issubdtype(leaf.dtype, jax.dtypes.extended):
        return leaf.copy()  # typed random keys exist only on the device; they are small
    return numpy.array(leaf, copy=True)


def _aval(leaf: Any) -> Any:
    import jax
    import numpy

    if isinstance(leaf, jax.Array):
        return jax.ShapeDtypeStruct(
            leaf.shape, leaf.dtype, sharding=leaf.sharding, weak_type=bool(getattr(leaf, "weak_type", False))
        )
    if isinstance(leaf, numpy.ndarray | numpy.generic):
        return jax.ShapeDtypeStruct(leaf.shape, leaf.dtype)
    return leaf
