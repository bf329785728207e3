"""Writes a proven rematerialisation of scan bodies or blocks to the source, and checks that the gain is still there."""

from __future__ import annotations

import os
from collections.abc import Mapping

from jaxlint.codemods import Refused, Workspace
from jaxlint.codemods.memory import checkpoint, remat_call
from jaxlint.finding import FixRequest, Safety, Step
from jaxlint.source.file import SourceFile
from jaxlint_runtime.optimiser_settings import LEAST_SAVED
from jaxlint_runtime.proof.gain import gain_of
from jaxlint_runtime.protocol.report_forms import ResultJson, peak_of

_FIND = {"checkpoint-scan-body": checkpoint.find_scans, "remat-call": remat_call.find_calls}
_WHAT = {"checkpoint-scan-body": "call of a scan", "remat-call": "call of a block in a loop"}
CODEMODS = frozenset(_FIND)
_REPRODUCED = 0.5  # share of the saving that must be shown again


def remat_fix(
    result: ResultJson, sources: Mapping[str, SourceFile], limit: int | None = None
) -> FixRequest | str:
    """The fix that puts a checkpoint around the scan bodies or blocks, or why it stays advice.

    `limit`: the device's memory in bytes; time is traded if the function fits only then.
    """
    saved = _saved(result)
    if saved < LEAST_SAVED:
        return "advice only: it saves less than 1 MiB"
    # the peaks are known, since they differ
    before, after = peak_of(result["before"]) or 0, peak_of(result["after"]) or 0
    needed = limit is not None and after <= limit < before
    if not needed and not gain_of(result).costs_no_time:
        return "advice only: it costs time, and --apply writes only what costs none"
    paths = {os.path.realpath(path): path for path in sources}
    workspace = Workspace(sources)
    steps = []
    policy = result["parameters"]["policy"]
    codemod = str(result["codemod"])
    chains = [[place] for place in result["parameters"]["sites"]]
    if codemod == "remat-call":
        chains = result["parameters"]["calls"]
    for chain in chains:
        refused = "advice only: its source line is unknown"
        for place in chain:  # from the inside to the outside: a block may be one line of one function
            file, _, line = place.rpartition(":")
            path = paths.get(os.path.realpath(file))
            if path is None:
                refused = f"advice only: {file} was not checked"
                continue
            try:
                spans = _FIND[codemod](workspace.site(path), int(line))
            except Refused as refusal:
                return f"advice only: {refusal}"
            if len(spans) == 1:
                step = Step(codemod, path, spans[0], {"policy": policy})
                steps += [step] if step not in steps else []
                break
            refused = f"advice only: {place} does not hold exactly one {_WHAT[codemod]}"
        else:
            return refused
    return FixRequest(Safety.UNSAFE, "Recompute parts of the forward pass in the backward pass", tuple(steps))


def still_gains(result: ResultJson, peaks: list[int]) -> tuple[bool, str]:
    """Whether the edited function, with these compiler peaks, needs as little memory as promised."""
    if not peaks:
        return False, "not changed: the edited program did not compile the function"
    before, peak = peak_of(result["before"]), min(peaks)
    if before is None:
        return False, "not changed: the memory before the edit is unknown"
    figures = f"{before / 2**20:.1f} MiB to {peak / 2**20:.1f} MiB"
    if before - peak < _REPRODUCED * _saved(result):
        return False, f"not changed: the edited program shows less than half of the gain: memory {figures}"
    return True, f"compiled in the edited program: memory {figures} ({peak / before:.2f}x)"


def _saved(result: ResultJson) -> int:
    before, after = peak_of(result["before"]), peak_of(result["after"])
    return 0 if not before or after is None else before - after
