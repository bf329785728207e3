"""How the arguments of a jitted function, whose lengths differ from call to call, may be padded."""

from __future__ import annotations

import os
from collections.abc import Sequence
from types import FrameType
from typing import TYPE_CHECKING, Any

from jaxlint_runtime.capture.signature import Signature, only_leaves_differ

if TYPE_CHECKING:
    from jaxlint_runtime.capture.recorder import FunctionRecord

_LEAST = 4  # compiles for other lengths
Groups = dict[str, tuple[int, ...]]  # places of arrays, each with its lengths in the calls that compiled


def call_place(frame: FrameType | None) -> list[int] | None:
    """The lines and columns of the call that a frame evaluates, as `ast` counts; None before Python 3.11."""
    if frame is None or not hasattr(frame.f_code, "co_positions"):
        return None
    places = list(frame.f_code.co_positions())
    line, last, column, end = places[frame.f_lasti // 2]
    return None if None in (line, last, column, end) else [line, column, last, end]  # type: ignore[list-item]


def lengths_of(signatures: Sequence[Signature]) -> Groups:
    """The arrays whose first axis differs from compile to compile, if nothing else in the calls does; else none."""
    first = signatures[0] if len(signatures) >= _LEAST else None
    if first is None or not only_leaves_differ(signatures):
        return {}
    found: Groups = {}
    for place, leaf in first.leaves.items():
        same = [one.leaves[place] for one in signatures]
        if any((one.dtype, one.kind, one.weak) != (leaf.dtype, leaf.kind, leaf.weak) for one in same):
            return {}
        shapes = [one.shape or () for one in same]
        if len({shape[1:] for shape in shapes}) > 1 or len({len(shape) for shape in shapes}) > 1:
            return {}
        if len(set(shapes)) > 1:
            found[place] = tuple(shape[0] for shape in shapes)
    return found


def padding_of(record: FunctionRecord) -> dict[str, Any] | None:
    """How to pad the arguments of a function, as data for the codemod `pad-arguments`; None if they do not differ, `refused` if it
    cannot be."""
    lengths = lengths_of(record.signatures)
    if not lengths or record.call is None:
        return None
    from jaxlint_runtime.inspection.padding_rules import Blocked

    places = {"places": list(lengths)}
    try:
        return {**places, **_found(record, lengths)}
    except Blocked as blocked:
        return {**places, "refused": str(blocked)}
    except Exception as error:  # a function that cannot be traced again
        return {**places, "refused": f"it could not be traced: {type(error).__name__}"}


def _found(record: FunctionRecord, lengths: Groups) -> dict[str, Any]:
    import jax

    from jaxlint_runtime.inspection.padded_axes import SIZES, padding
    from jaxlint_runtime.inspection.padding_rules import Blocked, Fill

    assert record.call is not None
    groups = list(dict.fromkeys(lengths.values()))
    if len(groups) > len(SIZES):
        raise Blocked("too many lengths differ")
    args, kwargs = record.call.avals
    named: list[tuple[int | str, str, Any]] = [
        (n, record.parameters.name(n), value) for n, value in enumerate(args)
    ]
    named += [(name, name, value) for name, value in kwargs.items()]
    static = {n for n in range(len(args)) if record.parameters.is_static_position(n, len(args))}
    leaves: list[tuple[int | str, list[Any], Any, int | None]] = []  # argument, keys, shape, group
    for argument, name, value in named:
        if argument in static or argument in record.parameters.static_names:
            continue
        for path, leaf in jax.tree_util.tree_flatten_with_path(value)[0]:
            sizes = lengths.get(name + jax.tree_util.keystr(path))
            keys = [getattr(key, "key", None) for key in path]
            leaves.append((argument, keys, leaf, None if sizes is None else groups.index(sizes)))
    padded = [one for one in leaves if one[3] is not None]
    if len(padded) != len(lengths):
        raise Blocked("its arguments changed")
    for _, keys, leaf, _ in padded:
        if getattr(leaf, "sharding", None) is not None:
            raise Blocked("an array of another length is on the device")
        if len(keys) > 1 or not all(isinstance(key, str) for key in keys):
            raise Blocked("an array of another length is in a tree of arguments")
        if leaf.dtype.kind in "iu" and leaf.dtype.itemsize < 4:
            raise Blocked("an array of another length has small integers")
    if any(value.dtype.kind in "iu" and value.size and value.min() < 0 for value in _values(record)):
        raise Blocked("an index is negative, which counts from the end")

    def traced(which: int) -> Any:
        given = [
            _longer(leaf, SIZES[group][which]) if group is not None else leaf for _, _, leaf, group in leaves
        ]
        abstract = [one for one in given if isinstance(one, jax.ShapeDtypeStruct)]

        def call(*arrays: Any) -> Any:
            remaining = iter(arrays)
            flat = iter([next(remaining) if isinstance(one, jax.ShapeDtypeStruct) else one for one in given])
            filled = {
                argument: value
                if argument in static or argument in record.parameters.static_names
                else jax.tree.map(lambda _: next(flat), value)
                for argument, _, value in named
            }
            return record.jitted(
                *(filled[n] for n in range(len(args))), **{name: filled[name] for name in kwargs}
            )

        return jax.make_jaxpr(call)(*abstract)

    kinds = [
        None if group is None else "i" if leaf.dtype.kind in "iu" else "f"
        for _, _, leaf, group in leaves
        if isinstance(leaf, jax.ShapeDtypeStruct)
    ]
    found = padding(traced(0), traced(1), kinds)
    fills = iter([fill for fill, kind in zip(found.fills, kinds, strict=True) if kind])
    multiples = [_multiple(sizes) for sizes in groups]
    arrays = [
        {
            "argument": argument,
            "key": keys[0] if keys else None,
            "multiple": multiples[group],
            "outside": next(fills) is Fill.OUTSIDE,
            "group": group,
        }
        for argument, keys, _, group in padded
        if group is not None
    ]
    if any(os.path.realpath(place[0]) != record.identity.path for place in found.masks):
        raise Blocked("a reduction of another file needs a mask")
    masks = [
        {
            "place": list(place),
            "group": mask.group,
            "axis": mask.axis,
            "rank": mask.rank,
            "floats": mask.floats,
            "chains": [_inside(chain, record.identity.path) for chain in mask.chains],
        }
        for place, mask in found.masks.items()
    ]
    names = [name for argument, name, _ in named if isinstance(argument, int)]
    return {"arrays": arrays, "masks": masks, "calls": list(record.sites.values()), "names": names}


def _values(record: FunctionRecord) -> list[Any]:
    """The arrays among the captured arguments."""
    import jax
    import numpy as np

    assert record.call is not None
    static = record.parameters
    args = [
        one
        for n, one in enumerate(record.call.args)
        if not static.is_static_position(n, len(record.call.args))
    ]
    named = [one for name, one in record.call.kwargs.items() if name not in static.static_names]
    return [one for one in jax.tree.leaves([args, named]) if isinstance(one, np.ndarray)]


def _longer(leaf: Any, size: int) -> Any:
    import jax

    return jax.ShapeDtypeStruct((size, *leaf.shape[1:]), leaf.dtype)


def _multiple(sizes: Sequence[int]) -> int:
    """The length of which padded ones are multiples: so that the lengths of the run need one compile."""
    return 1 << (max(*sizes, 2) - 1).bit_length()


def _inside(chain: Sequence[tuple[Any, ...]], path: str) -> list[list[Any]]:
    """The calls around a reduction, which are in the function's own file. Raises Blocked if another file calls back into it."""
    places = [
        [os.path.realpath(file), *rest] for file, *rest in chain
    ]  # a script may be known by a relative path
    own = [place for place in places if place[0] == path]
    if places[: len(own)] != own:
        from jaxlint_runtime.inspection.padding_rules import Blocked

        raise Blocked("a function that needs a mask is called by a library")
    return own
