"""Arguments of a captured function that its results replace, or whose buffers its results could reuse."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from jaxlint_runtime.lowering.avals import nbytes
from jaxlint_runtime.programs.captured_program import Program

SMALL = 64  # bytes: counters and random keys, which need no elementwise update
_Kind = tuple[tuple[int, ...], str]  # shape and dtype
_UPDATED = 0.9  # share of an argument's bytes that must be replaced


def rebound_arguments(program: Program) -> dict[int | str, int]:
    """Arguments whose arrays all match outputs, and of which nearly all bytes are returned updated, with bytes."""
    found = _tally(program)
    return {
        argument: size
        for argument, size in found.sizes.items()
        if argument not in found.refused and size and found.updated.get(argument, 0) >= _UPDATED * size
    }


def dead_arguments(program: Program) -> dict[int | str, int]:
    """Arguments that no caller can read after the call, and whose arrays all match outputs, with bytes."""
    rebound = rebound_arguments(program)
    donated = program.bound.donated(program.version.options)
    taken = [
        leaf
        for leaf, given in zip(program.bound.leaves, donated, strict=True)
        if given or leaf.argument in rebound
    ]
    spare = _outputs(program)
    for leaf in taken:
        spare[_kind(leaf.aval)] -= 1
    found: dict[int | str, int] = {}
    for argument in program.captured.dead_arguments:
        leaves = [leaf for leaf in program.bound.leaves if leaf.argument == argument]
        size = sum(nbytes(leaf.aval) for leaf in leaves)
        wanted = Counter(_kind(leaf.aval) for leaf in leaves)
        if size > SMALL and argument not in rebound and all(spare[kind] >= n for kind, n in wanted.items()):
            spare -= wanted
            found[argument] = size
    return found


def updated_bytes(program: Program, argument: int | str) -> int:
    """Bytes of one argument that are returned updated, whatever happens to its other arrays."""
    return _tally(program).updated.get(argument, 0)


@dataclass(frozen=True, slots=True)
class _Tally:
    """By argument: total bytes, bytes that are returned updated, and whether an array matches no output."""

    sizes: dict[int | str, int]
    updated: dict[int | str, int]
    refused: set[int | str]


def _tally(program: Program) -> _Tally:
    by_input = {update.input: update for update in program.updates}
    spare = _spare_outputs(program)
    sizes: dict[int | str, int] = {}
    updated: dict[int | str, int] = {}
    refused: set[int | str] = set()
    known = set(program.captured.rebound or ())
    for number, leaf in enumerate(program.bound.leaves):
        size = nbytes(leaf.aval)
        sizes[leaf.argument] = sizes.get(leaf.argument, 0) + size
        update = by_input.get(number)
        if update is not None:
            others = {program.bound.leaves[rival].argument for rival in update.rivals}
            # `0.9 * old + 0.1 * new` updates either by its values alone; the run shows which one the callers rebind.
            ours = leaf.argument in known and not others & known
            certain = update.distance and (others <= {leaf.argument} or ours)
            updated[leaf.argument] = updated.get(leaf.argument, 0) + (size if certain else 0)
        elif size <= SMALL and spare[_kind(leaf.aval)] > 0:
            spare[_kind(leaf.aval)] -= 1
        else:
            refused.add(leaf.argument)
    return _Tally(sizes, updated, refused)


def _spare_outputs(program: Program) -> Counter[_Kind]:
    """The number of outputs of each shape and dtype that update no input."""
    return _outputs(program, {update.output for update in program.updates})


def _outputs(program: Program, without: Collection[int] = ()) -> Counter[_Kind]:
    """The number of outputs of each shape and dtype."""
    avals = program.baseline.jaxpr.out_avals
    return Counter(
        _kind(aval)
        for number, aval in enumerate(avals)
        if number not in without and getattr(aval, "shape", None) is not None
    )


def _kind(aval: Any) -> _Kind:
    return tuple(aval.shape), str(aval.dtype)


def released(program: Program) -> tuple[bool, ...]:
    """For each leaf, whether its buffer is donated, or could be."""
    released = {**rebound_arguments(program), **dead_arguments(program)}
    donated = program.bound.donated(program.version.options)
    return tuple(
        given or leaf.argument in released for leaf, given in zip(program.bound.leaves, donated, strict=True)
    )
