"""The cost of 64-bit host arrays, which JAX narrows to 32 bits at each call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from jaxlint_runtime import inspection
from jaxlint_runtime.lowering import function_versions
from jaxlint_runtime.model import Result, Status
from jaxlint_runtime.programs.captured_program import Program
from jaxlint_runtime.proof.gain import gain_of
from jaxlint_runtime.proof.paired_timing import Subject, Timing, compare
from jaxlint_runtime.wording.units import milliseconds, size

NAME = "32-bit-inputs"
_LEAST = 2**16  # bytes that are worth a measurement


def wide_leaves(program: Program) -> list[int]:
    """Leaves that came from the host with more bits than the program uses."""
    return [
        n
        for n, leaf in enumerate(program.bound.leaves)
        if isinstance(leaf.value, np.ndarray) and leaf.value.dtype.itemsize > leaf.aval.dtype.itemsize
    ]


def host_inputs(program: Program) -> Result | None:
    """Times calls with the original arrays and with arrays narrowed in advance; None if there are none.

    Both transfer the arrays at each call. JAX's narrowing implies that no bit changes; it is checked anyway.
    """
    wide = wide_leaves(program)
    total = sum(program.bound.leaves[n].value.nbytes for n in wide)
    if total < _LEAST or program.target.compile_only or not program.settings.measure:
        return None
    leaves = program.bound.leaves
    values = [leaf.value for leaf in leaves]
    narrow = [
        value.astype(leaf.aval.dtype) if n in wide else value
        for n, (value, leaf) in enumerate(zip(values, leaves, strict=True))
    ]
    captured = program.captured
    labels = list(dict.fromkeys(map(program.label, wide)))
    kinds = " and ".join(sorted({str(leaves[n].value.dtype) for n in wide}))
    what = (
        f"pass {', '.join(labels)} in 32 bits: each call converts {size(total)} of {kinds} from the host; use "
        "`.astype(np.float32)` or `.astype(np.int32)` where they are made, or `jnp.asarray` once"
    )
    found = Result(
        captured.qualname,
        captured.path,
        captured.line,
        None,
        NAME,
        Status.FAILED,
        "",
        what,
        parameters={"leaves": len(wide)},
    )
    same = all(
        np.array_equal(np.asarray(jax.device_put(values[n])), np.asarray(narrow[n]), equal_nan=True)
        for n in wide
    )
    timing = compare(
        _subject(program, values, wide),
        _subject(program, narrow, wide),
        program.settings.seconds,
        program.settings.seed,
    )
    _judge(found, program, timing, same)
    return found


def _subject(program: Program, values: Sequence[Any], wide: Sequence[int]) -> Subject:
    """Calls that first transfer the leaves `wide` to the device, like a call of a jitted function; the others are
    already there."""
    compiled = program.baseline.compiled
    device = program.target.devices()[0]
    arrays = function_versions.placed(program.bound, values, program.target)
    donated = program.bound.donated(program.version.options)

    def prepare() -> list[Any]:
        return [array.copy() if given else array for array, given in zip(arrays, donated, strict=True)]

    def run(leaves: list[Any]) -> Any:
        for n in wide:
            leaves[n] = jax.device_put(values[n], device)
        args, kwargs = program.bound.dynamic(leaves)
        return compiled(*args, **kwargs)

    return Subject(run, prepare, sum(a.nbytes for a, given in zip(arrays, donated, strict=True) if given))


def _judge(found: Result, program: Program, timing: Timing | None, same: bool) -> None:
    found.before, found.after = inspection.cost(program.baseline), inspection.cost(program.baseline)
    found.evidence = "the same bits reach the device" if same else "other values reach the device"
    if timing is None:
        found.status = Status.REJECTED
        found.reason += f": too slow to time in {program.settings.seconds:g} s"
        return
    found.before.time_ms, found.after.time_ms = timing.before, timing.after
    found.before.time_kind = found.after.time_kind = "measured"
    found.speedup, found.pairs_ms = timing.speedup, timing.pairs
    found.evidence += f"; time of calls with their transfers, {timing.blocks} A-B-B-A blocks"
    figures = f"{milliseconds(timing.before.median)} to {milliseconds(timing.after.median)} a call"
    good = same and gain_of(found).faster
    found.status = Status.VERIFIED if good else Status.REJECTED
    found.reason += f": {figures}, {timing.change.text}"
