"""Donation: an argument that is rebound to a result lends its buffers to it.

Proposed for arguments of which every array comes back updated (`params`, `opt_state`), never for those whose
shapes an output merely shares, as gradients share the shapes of the parameters, and not where two arguments could
equally be meant.
"""

from __future__ import annotations

import hashlib
import inspect
from typing import Any

import numpy as np

from jaxlint_runtime.inspection.avals import nbytes
from jaxlint_runtime.program import Program
from jaxlint_runtime.staging import Version
from jaxlint_runtime.transforms.base import Candidate, NotApplicable, Transform

_SMALL = 64  # bytes: counters and random keys, which need not be updated element by element
_UPDATED = 0.9  # share of an argument's bytes that must be


class Donation(Transform):
    """Adds `donate_argnums` (or names) for the arguments that are rebound."""

    name = "donation"
    rule = "missing-donation"
    bits = True

    def propose(self, program: Program) -> list[Candidate]:
        """One candidate with every argument that is rebound. Raises NotApplicable."""
        rebound = _rebound_arguments(program)
        donated = _donated_arguments(program)
        new = {argument: size for argument, size in rebound.items() if argument not in donated}
        if not new:
            if rebound:
                raise NotApplicable("the arguments that are rebound are donated already")
            raise NotApplicable("no argument comes back with all of its arrays updated")
        argnums = sorted(a for a in new if isinstance(a, int))
        argnames = sorted(a for a in new if isinstance(a, str))
        arguments: list[int | str] = [*argnums, *argnames]
        labels = [_label(program, argument) for argument in arguments]
        requires = f"no caller uses {' or '.join(labels)} after the call"
        parameters: dict[str, Any] = {"argnums": argnums, "names": labels}
        if argnames:
            parameters["argnames"] = argnames
        shared = _shared(program, set(new))
        if shared:
            parameters["shared"] = shared
            requires += f"; {' and '.join(shared[0])} held equal values in the captured call: no buffer is passed twice"
        return [
            Candidate(
                name=self.name,
                summary=f"donate {', '.join(labels)}",
                requires=requires,
                estimate=float(sum(new.values())),
                codemod="add-donation",
                parameters=parameters,
            )
        ]

    def apply(self, program: Program, candidate: Candidate, version: Version) -> Version:
        """The same function, jitted with the donation."""
        return version.donating(candidate.parameters["argnums"], candidate.parameters.get("argnames", ()))


def _rebound_arguments(program: Program) -> dict[int | str, int]:
    """Arguments of which all arrays find a place in the outputs and nearly all bytes come back updated, with bytes."""
    by_input = {update.input: update for update in program.updates}
    spare = _spare_outputs(program)
    sizes: dict[int | str, int] = {}
    updated: dict[int | str, int] = {}
    refused: set[int | str] = set()
    for number, leaf in enumerate(program.bound.leaves):
        size = nbytes(leaf.aval)
        sizes[leaf.argument] = sizes.get(leaf.argument, 0) + size
        update = by_input.get(number)
        if update is not None:
            others = {program.bound.leaves[rival].argument for rival in update.rivals}
            certain = update.distance and others <= {leaf.argument}
            updated[leaf.argument] = updated.get(leaf.argument, 0) + (size if certain else 0)
        elif size <= _SMALL and spare.get((leaf.aval.shape, str(leaf.aval.dtype)), 0) > 0:
            spare[leaf.aval.shape, str(leaf.aval.dtype)] -= 1
        else:
            refused.add(leaf.argument)
    return {
        argument: size
        for argument, size in sizes.items()
        if argument not in refused and size and updated.get(argument, 0) >= _UPDATED * size
    }


def _spare_outputs(program: Program) -> dict[tuple[tuple[int, ...], str], int]:
    """How many outputs of each shape and dtype update no input."""
    taken = {update.output for update in program.updates}
    spare: dict[tuple[tuple[int, ...], str], int] = {}
    for number, aval in enumerate(program.baseline.jaxpr.out_avals):
        if number not in taken and getattr(aval, "shape", None) is not None:
            key = (tuple(aval.shape), str(aval.dtype))
            spare[key] = spare.get(key, 0) + 1
    return spare


def _donated_arguments(program: Program) -> set[int | str]:
    flags = program.bound.donated(program.version.options)
    return {leaf.argument for leaf, donated in zip(program.bound.leaves, flags, strict=True) if donated}


def _label(program: Program, argument: int | str) -> str:
    if isinstance(argument, str):
        return argument
    try:
        parameters = list(inspect.signature(program.captured.function).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    if argument < len(parameters) and parameters[argument].kind is not inspect.Parameter.VAR_POSITIONAL:
        return parameters[argument].name
    return f"argument {argument}"


def _shared(program: Program, arguments: set[int | str]) -> list[list[str]]:
    """Pairs of paths, one inside the donated arguments, whose captured arrays are equal and not constant.

    A target network that starts as a copy of the parameters may be the very same buffer.
    """
    seen: dict[tuple[Any, ...], list[int]] = {}
    for number, leaf in enumerate(program.bound.leaves):
        if isinstance(leaf.value, np.ndarray) and leaf.value.nbytes > _SMALL:
            flat = leaf.value.reshape(-1)
            if (flat == flat[0]).all():
                continue
            digest = hashlib.blake2b(np.ascontiguousarray(leaf.value).data.cast("B")).digest()
            seen.setdefault((leaf.value.shape, leaf.value.dtype, digest), []).append(number)
    pairs = []
    for numbers in seen.values():
        leaves = [program.bound.leaves[number] for number in numbers]
        if len(leaves) > 1 and any(leaf.argument in arguments for leaf in leaves):
            pairs.append([leaf.path for leaf in leaves[:2]])
    return pairs
