"""Donation: results reuse the buffers of an argument that is rebound to a result, or that no caller reads again.

Proposed for arguments whose arrays are all returned updated (`params`, `opt_state`). Never proposed because an output
merely has the same shapes, as gradients do, nor if two arguments could equally be meant. If the source shows that no
caller needs an argument any more, an output of the same shapes suffices.
"""

from __future__ import annotations

import hashlib
import inspect
from typing import Any

import numpy as np

from jaxlint_runtime.lowering.function_versions import Version
from jaxlint_runtime.programs.captured_program import Program
from jaxlint_runtime.programs.replaced_arguments import (
    SMALL,
    dead_arguments,
    rebound_arguments,
    updated_bytes,
)
from jaxlint_runtime.transforms.transform import Candidate, NotApplicable, Transform

_EQUINOX = "equinox._jit"  # the module of the function that `equinox.filter_jit` passes to `jax.jit`
_HANDED = (0, 1)  # its arguments with the arrays that are donated, and with those that are not


class Donation(Transform):
    """Adds `donate_argnums` (or names) for the arguments that are rebound or dead after the call."""

    name = "donation"
    rule = "missing-donation"
    bits = True

    def propose(self, program: Program) -> list[Candidate]:
        """One candidate with every rebound or dead argument. Raises NotApplicable."""
        rebound, dead = rebound_arguments(program), dead_arguments(program)
        donated = _donated_arguments(program)
        new = {argument: size for argument, size in {**rebound, **dead}.items() if argument not in donated}
        if not new:
            if rebound:
                raise NotApplicable("all rebound arguments are already donated")
            if program.captured.function.__module__ == _EQUINOX:
                return [_all_of_equinox(program, donated)]
            raise NotApplicable(
                "no argument is returned updated, and no result has the shape of an argument that all callers discard"
                ""
            )
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
            requires += f"; {' and '.join(shared[0])} are different buffers (their values were equal in the captured call)"
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


def _all_of_equinox(program: Program, donated: set[int | str]) -> Candidate:
    """Equinox passes the arrays of all arguments to `jax.jit` in two groups: donated ones and others. Raises
    NotApplicable."""
    updated = {number: updated_bytes(program, number) for number in _HANDED if number not in donated}
    number = max(updated, key=lambda number: updated[number], default=None)
    if number is None or not updated[number]:
        raise NotApplicable("no argument is returned updated")
    if program.captured.reused:
        raise NotApplicable(
            "two calls pass the same arrays, and equinox donates those of all arguments or of all but the first"
            ""
        )
    parameters: dict[str, Any] = {"argnums": [number], "equinox": "all"}
    if shared := _shared(program, {number}):
        parameters["shared"] = shared
    return Candidate(
        name="donation",
        summary='donate all arrays: eqx.filter_jit(donate="all")',
        requires="no caller uses an array after passing it",
        estimate=float(updated[number]),
        codemod="add-donation",
        parameters=parameters,
    )


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

    A target network that starts as a copy of the parameters may be the same buffer.
    """
    seen: dict[tuple[Any, ...], list[int]] = {}
    for number, leaf in enumerate(program.bound.leaves):
        if isinstance(leaf.value, np.ndarray) and leaf.value.nbytes > SMALL:
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
