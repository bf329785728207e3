"""Every edit that `verify --apply` may write into a program, whether it gains or not: what a run proposes and the codemods and `check` allow.

A machine that is busy, or another one, decides which of them gains; none of them may change what the program does.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jaxlint_runtime.request import Request  # type: ignore[import-untyped]
from jaxlint_runtime.rewrites.candidate_edits import propose  # type: ignore[import-untyped]
from jaxlint_runtime.rewrites.original_program import original_of  # type: ignore[import-untyped]
from jaxlint_runtime.rewrites.proposals import Rewrite  # type: ignore[import-untyped]
from jaxlint_runtime.rewrites.tried_edit import edited  # type: ignore[import-untyped]
from jaxlint_runtime.source_analysis.findings import Foreseen  # type: ignore[import-untyped]
from jaxlint_runtime.verify import Verification  # type: ignore[import-untyped]


@dataclass(slots=True)
class Possible:
    """The edits of one program. `refused`: what is not edited, with why."""

    sources: dict[str, Any]
    edits: list[tuple[str, tuple[Any, ...]]] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)

    def texts(self, edits: Sequence[tuple[str, tuple[Any, ...]]]) -> dict[str, str] | None:
        """The files that are others with these edits, by path; None where they cannot be made at once."""
        new = edited([fix for _, fixes in edits for fix in fixes], self.sources)
        if isinstance(new, str):
            return None
        return {
            os.path.realpath(path): one.text
            for path, one in new.items()
            if one.text != self.sources[path].text
        }

    def groups(self) -> list[list[tuple[str, tuple[Any, ...]]]]:
        """Each edit once, as many at a time as can be made at once."""
        found: list[list[tuple[str, tuple[Any, ...]]]] = []
        for one in self.edits:
            group = next((each for each in found if self.texts([*each, one]) is not None), None)
            if group is None:
                found.append([one])
            else:
                group.append(one)
        return found


def possible_edits(program: Path) -> Possible:
    """What may be written into a program, which is run once for it."""
    here = Path.cwd()
    os.chdir(program.parent)
    try:
        verification = Verification(Request("script", program.name, transforms=("source",), run_for=20.0))
        verification._run()
        with original_of(verification, []) as original:
            ran = original.measure()  # what it does not reach is not edited
            rewrites = propose(verification, original.sources) if ran else []
    finally:
        os.chdir(here)
    assert verification.check is not None
    found = Possible(dict(original.sources))
    foreseen = Foreseen(found.sources)
    seen = set[tuple[str, ...]]()
    for first in rewrites:
        rewrite: Rewrite | None = first
        while rewrite is not None:
            told = f"{rewrite.function}: {rewrite.name}"
            new = edited(rewrite.fixes, found.sources)
            if not isinstance(new, str) and (error := foreseen.new_error(new)):
                new = error
            if isinstance(new, str):
                found.refused.append(f"{told}: {new}")
            else:
                key = tuple(one.text for one in new.values())
                if key not in seen:
                    seen.add(key)
                    found.edits.append((told, tuple(rewrite.fixes)))
            rewrite = rewrite.instead
    return found
