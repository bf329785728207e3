"""Regions that hold what the fix of a finding compiles.

`eager-update` names the update of the optimiser, and its fix compiles the statements next to it that need nothing of the host. A region
may reach further, over a gradient whose batch the host picks. So the region is tried first, donates what the fix donates, and
the fix is tried if the region gains nothing.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Sequence

from jaxlint.finding import FixRequest, Span, Step
from jaxlint_runtime.rewrites.proposals import Rewrite

_REGION = "region-to-jit"


def over_findings(
    findings: Sequence[Rewrite], busy: Sequence[Rewrite]
) -> tuple[list[Rewrite], list[Rewrite]]:
    """The edits from findings that stand alone, and the others, each with the fixes of findings that it holds behind it."""
    left = list(findings)
    found = []
    for one in busy:
        for under in [each for each in left if _holds(one, each)]:
            left.remove(under)
            one = _behind(_donating(one, under), under)
        found.append(one)
    return left, found


def _holds(region: Rewrite, under: Rewrite) -> bool:
    """Whether a region compiles all that a finding's fix would, and more."""
    steps = [step for fix in under.fixes for step in fix.steps]
    if not region.name.startswith(_REGION) or any(step.codemod != _REGION for step in steps):
        return False
    return bool(steps) and all(
        any(_contains(own, step) for fix in region.fixes for own in fix.steps) for step in steps
    )


def _contains(wide: Step, narrow: Step) -> bool:
    same = os.path.realpath(wide.path) == os.path.realpath(narrow.path)
    first, last = _lines(wide.span)
    start, end = _lines(narrow.span)
    return same and first <= start and end <= last


def _lines(span: Span) -> tuple[int, int]:
    return span.line, span.end_line


def _donating(region: Rewrite, under: Rewrite) -> Rewrite:
    """The region, which donates the buffers of recomputed variables if the fix does; equinox donates all arguments or none."""
    donates = any(step.parameters.get("donate") for fix in under.fixes for step in fix.steps)
    if not donates or not region.name.endswith(":jax.jit"):
        return region

    def with_donation(fix: FixRequest) -> FixRequest:
        steps = [
            dataclasses.replace(step, parameters={**step.parameters, "donate": True})
            if any(_contains(step, other) for each in under.fixes for other in each.steps)
            else step
            for step in fix.steps
        ]
        return dataclasses.replace(fix, steps=tuple(steps))

    return dataclasses.replace(region, fixes=tuple(map(with_donation, region.fixes)))


def _behind(region: Rewrite, under: Rewrite) -> Rewrite:
    """The region with another edit as the last that is tried in its place."""
    last = under if region.instead is None else _behind(region.instead, under)
    return dataclasses.replace(region, instead=last)
