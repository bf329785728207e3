"""Facts from the jaxpr of a version, as plain data that outlives it: an artefact is measured in a process without its
jaxpr."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from jaxlint_runtime.inspection.flops import Work, count, has_kernels, products
from jaxlint_runtime.inspection.hlo import Place
from jaxlint_runtime.inspection.memory_timeline import Timeline, timeline
from jaxlint_runtime.inspection.work_by_line import work_by_line
from jaxlint_runtime.lowering.function_versions import Staged


@dataclass(frozen=True)
class Traced:
    """Facts about one traced version. `memory` is by the set of donated leaves; `texts` by stage, if requested."""

    work: Work
    products: tuple[tuple[str, float], ...]  # dtype and FLOPs of each
    kernels: bool  # whether it calls kernels whose work only their authors know
    effects: bool
    lines: Mapping[tuple[Place | None, str], float]
    memory: Mapping[tuple[bool, ...], Timeline]
    texts: Mapping[str, str] = field(default_factory=dict)


def traced(staged: Staged, *donations: tuple[bool, ...]) -> Traced:
    """The facts about a version; `donations` are further sets of donated leaves to compute its memory for. Raises
    StagingError."""
    if staged.known is None:
        jaxpr: Any = staged.jaxpr
        own = staged.bound.donated(staged.version.options)
        staged.known = Traced(
            work=count(jaxpr),
            products=tuple(products(jaxpr)),
            kernels=has_kernels(jaxpr),
            effects=bool(jaxpr.effects),
            lines=work_by_line(jaxpr),
            memory={own: timeline(jaxpr, own)},
        )
    known: Traced = staged.known
    more = {donated: timeline(staged.jaxpr, donated) for donated in donations if donated not in known.memory}
    if more:
        staged.known = known = replace(known, memory={**known.memory, **more})
    return known
