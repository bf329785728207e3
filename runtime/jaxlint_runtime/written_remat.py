"""How a proven rematerialisation of scan bodies is written to the source, and whether its gain came back."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from jaxlint.codemods import Refused, Workspace, checkpoint
from jaxlint.finding import FixRequest, Safety, Step
from jaxlint.source.file import SourceFile

CODEMOD = "checkpoint-scan-body"
_LEAST_SAVED = 2**20  # bytes that are worth a change of the source
_REPRODUCED = 0.5  # of what was saved that must be saved again


def scan_fix(result: Mapping[str, Any], sources: Mapping[str, SourceFile]) -> FixRequest | str:
    """The fix that puts `jax.checkpoint` around the bodies of the scans, or why it stays advice."""
    speedup, saved = result["speedup"], _saved(result)
    if saved < _LEAST_SAVED:
        return "advice only: it saves less than 1 MiB"
    if speedup is None or speedup["high"] < 1.0:
        return "advice only: it trades time for memory, and only what costs no time is written"
    paths = {os.path.realpath(path): path for path in sources}
    workspace = Workspace(sources)
    steps = []
    policy = result["parameters"]["policy"]
    for place in dict.fromkeys(result["parameters"]["sites"]):
        file, _, line = place.rpartition(":")
        path = paths.get(os.path.realpath(file))
        if path is None:
            return f"advice only: {file} was not examined"
        try:
            spans = checkpoint.find_scans(workspace.site(path), int(line))
        except Refused as refusal:
            return f"advice only: {refusal}"
        if len(spans) != 1:
            return f"advice only: there is no single call of jax.lax.scan at {place}"
        steps.append(Step(CODEMOD, path, spans[0], {"policy": policy}))
    return FixRequest(Safety.UNSAFE, "Compute the bodies of the scans again", tuple(steps))


def judged_again(result: Mapping[str, Any], peaks: list[int]) -> tuple[bool, str]:
    """Whether the edited function, with these peaks by the compiler, needs as little memory as was promised."""
    if not peaks:
        return False, "not changed: the edited function was not compiled again"
    before, peak = result["before"]["peak_bytes"], min(peaks)
    figures = f"{before / 2**20:.1f} MiB to {peak / 2**20:.1f} MiB"
    if before - peak < _REPRODUCED * _saved(result):
        return False, f"not changed: the gain was not seen again: memory {figures}"
    return True, f"compiled again from the edited program: memory {figures} ({peak / before:.2f}x)"


def _saved(result: Mapping[str, Any]) -> int:
    before, after = result["before"], result["after"]
    if not before or not after or not before["peak_bytes"] or after["peak_bytes"] is None:
        return 0
    return int(before["peak_bytes"] - after["peak_bytes"])
