"""Arguments that grow at their end from call to call, as the tokens of a text that a loop extends: whether rows of zeros behind the
end leave the results before it as they are.

Compiled functions of language models and filters are of this kind: position `i` of the result depends on positions up to `i` of the
argument. This is tried out on a captured call, with zeros and with other rows behind the end. No jaxpr has to show it.
A function that returns the last row alone (`return model(tokens)[:, -1]`) cannot be tried out this way: its rows before the end are
not seen, and only the run of the edited program compares them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from jaxlint_runtime.capture.signature import Signature, only_leaves_differ

if TYPE_CHECKING:
    from jaxlint_runtime.capture.recorder import FunctionRecord

_LEAST = 4  # lengths that were compiled for
_STEP = 8  # the padded length is a multiple of it
_CLOSE = 1e-4  # relative to the largest value of a row: programs of two lengths round differently
_SHORTER = 3  # how much shorter than the captured argument the one is that is padded


def growing_axis(signatures: Sequence[Signature]) -> tuple[str, int, int] | None:
    """The one array whose size along one axis differs between compiles, with the axis and its greatest size; None if anything else
    differs as well."""
    first = signatures[0] if len(signatures) >= _LEAST else None
    if first is None or not only_leaves_differ(signatures):
        return None
    found: list[tuple[str, int, int]] = []
    for place, leaf in first.leaves.items():
        same = [one.leaves[place] for one in signatures]
        if all(one == leaf for one in same):
            continue
        shapes = [one.shape or () for one in same]
        if any((one.dtype, one.kind) != (leaf.dtype, leaf.kind) for one in same) or leaf.kind:
            return None
        if len({len(shape) for shape in shapes}) > 1:
            return None
        axes = [axis for axis in range(len(shapes[0])) if len({shape[axis] for shape in shapes}) > 1]
        if len(axes) != 1 or len(set(shapes)) < _LEAST:
            return None
        found.append((place, axes[0], max(shape[axes[0]] for shape in shapes)))
    return found[0] if len(found) == 1 else None


def padded_end(record: FunctionRecord) -> dict[str, Any] | None:
    """How to pad the growing argument of a function, as data for the codemod `pad-growing-argument`; None if there is none, or if
    padding would change a result before the end."""
    growth = growing_axis(record.signatures)
    if growth is None or record.call is None:
        return None
    place, axis, greatest = growth
    args, kwargs = record.call.args, record.call.kwargs
    names = {n: record.parameters.name(n) for n in range(len(args))}
    argument = next((n for n, name in names.items() if name == place), place if place in kwargs else None)
    if argument is None:
        return None  # in a tree of arguments
    for size in dict.fromkeys((-(-greatest // _STEP) * _STEP, greatest)):
        try:
            grows, result_axis = _axis_of_result(record, argument, axis, size)
        # a table of positions that ends there, donated arguments, a program that is over, or a length that nnx has not traced
        except Exception:
            continue
        if result_axis is not None or not grows:
            break
    else:
        return None
    return {
        "argument": argument,
        "name": place,
        "axis": axis,
        "result_axis": result_axis,
        "multiple": size,
        "at_most": size % _STEP > 0,  # what is longer than the calls of the run stays as it is
        "calls": list(record.sites.values()),
    }


def _axis_of_result(
    record: FunctionRecord, argument: int | str, axis: int, size: int
) -> tuple[bool, int | None]:
    """Whether the one result grows with the argument, and the axis along which it is as long, if padding changes nothing before the
    end."""
    import numpy as np

    assert record.call is not None
    args, kwargs = record.call.args, record.call.kwargs
    whole = args[argument] if isinstance(argument, int) else kwargs[argument]
    if not isinstance(whole, np.ndarray) or whole.ndim <= axis:
        return True, None
    length = min(whole.shape[axis], size - 1)
    length = max(length - _SHORTER, 1)
    short = np.take(whole, range(length), axis)

    def run(array: Any) -> Any:
        given = [array if n == argument else one for n, one in enumerate(args)]
        out = record.jitted(*given, **{**kwargs, **({argument: array} if argument in kwargs else {})})
        if isinstance(out, tuple) and out and _is_of_nnx(args):
            out = out[-1]  # behind the modules that it may have changed
        return np.asarray(out) if hasattr(out, "dtype") else None

    base = run(short)
    others = [np.zeros_like(short), np.flip(whole, axis)]
    for fill in others:
        rows = np.moveaxis(fill, axis, 0)
        behind = np.moveaxis(np.resize(rows, (size - length, *rows.shape[1:])), 0, axis)
        padded = run(np.concatenate([short, behind], axis))
        if base is None or padded is None or base.ndim != padded.ndim or base.dtype.kind not in "fiu":
            return True, None
        if base.shape == padded.shape:
            return False, None
        axes = [n for n in range(base.ndim) if base.shape[n] != padded.shape[n]]
        if len(axes) != 1 or (base.shape[axes[0]], padded.shape[axes[0]]) != (length, size):
            return True, None
        before = np.take(padded, range(length), axes[0]).astype(np.float64)
        scale = np.abs(base.astype(np.float64)).max(initial=0.0)
        if not np.isfinite(scale) or not np.allclose(before, base, rtol=_CLOSE, atol=_CLOSE * scale):
            return True, None
    return True, axes[0]


def _is_of_nnx(args: Sequence[Any]) -> bool:
    """Whether `nnx.jit` makes the call: it hands over what its modules hold, and gets that back before the result."""
    return any(type(one).__module__.startswith("flax.nnx.") for one in args)
