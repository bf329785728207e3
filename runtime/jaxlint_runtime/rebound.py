"""Arguments of a captured function that its results replace."""

from __future__ import annotations

from dataclasses import dataclass

from jaxlint_runtime.inspection.avals import nbytes
from jaxlint_runtime.program import Program

SMALL = 64  # bytes: counters and random keys, which need not be updated element by element
_UPDATED = 0.9  # share of an argument's bytes that must be


def rebound_arguments(program: Program) -> dict[int | str, int]:
    """Arguments of which all arrays find a place in the outputs and nearly all bytes come back updated, with bytes."""
    found = _tally(program)
    return {
        argument: size
        for argument, size in found.sizes.items()
        if argument not in found.refused and size and found.updated.get(argument, 0) >= _UPDATED * size
    }


def updated_bytes(program: Program, argument: int | str) -> int:
    """Bytes of one argument that come back updated, whatever becomes of its other arrays."""
    return _tally(program).updated.get(argument, 0)


@dataclass(frozen=True, slots=True)
class _Tally:
    """By argument: bytes in all, bytes that come back updated, and whether an array finds no place in the outputs."""

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
            # `0.9 * old + 0.1 * new` updates either by its values alone; the run says which one its callers rebind.
            ours = leaf.argument in known and not others & known
            certain = update.distance and (others <= {leaf.argument} or ours)
            updated[leaf.argument] = updated.get(leaf.argument, 0) + (size if certain else 0)
        elif size <= SMALL and spare.get((leaf.aval.shape, str(leaf.aval.dtype)), 0) > 0:
            spare[leaf.aval.shape, str(leaf.aval.dtype)] -= 1
        else:
            refused.add(leaf.argument)
    return _Tally(sizes, updated, refused)


def _spare_outputs(program: Program) -> dict[tuple[tuple[int, ...], str], int]:
    """How many outputs of each shape and dtype update no input."""
    taken = {update.output for update in program.updates}
    spare: dict[tuple[tuple[int, ...], str], int] = {}
    for number, aval in enumerate(program.baseline.jaxpr.out_avals):
        if number not in taken and getattr(aval, "shape", None) is not None:
            key = (tuple(aval.shape), str(aval.dtype))
            spare[key] = spare.get(key, 0) + 1
    return spare


def released(program: Program) -> tuple[bool, ...]:
    """For each leaf, whether its buffer is donated, or could be."""
    rebound = rebound_arguments(program)
    donated = program.bound.donated(program.version.options)
    return tuple(
        given or leaf.argument in rebound for leaf, given in zip(program.bound.leaves, donated, strict=True)
    )
