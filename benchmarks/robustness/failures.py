"""Keeps what failed: the case as it was, a smaller one, what it said, and how to run it again."""

from __future__ import annotations

import hashlib
import json
import shutil
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.robustness.cases import Case
from benchmarks.robustness.pool import Warm, read, write
from benchmarks.robustness.properties import signature
from benchmarks.robustness.shrink import shrunk

_SHRINK_S = 90.0
_HANG_S = 3.0


@dataclass(slots=True)
class Failures:
    """Failures of a run by what they have in common; the first of each is kept below `folder`."""

    folder: Path
    counts: dict[str, int] = field(default_factory=dict)
    kept: dict[str, Path] = field(default_factory=dict)

    def add(self, case: Case, kind: str, message: str, warm: Warm | None = None) -> Path | None:
        """Count a failure; the first of its kind is kept, smaller where a worker is given to try. The folder, if it is new."""
        name = signature(kind, message)
        self.counts[name] = self.counts.get(name, 0) + 1
        if name in self.kept:
            return None
        digest = hashlib.sha256(name.encode()).hexdigest()[:8]
        folder = self.folder / f"{kind.replace(' ', '-')}-{digest}"
        self.kept[name] = folder
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)  # a fault of `verify` has no files
        write(folder / "original", case.files)
        small = case
        if warm is not None:
            small = shrunk(case, lambda one: _alike(warm, one, kind, name), _SHRINK_S)
        write(folder / "minimised", small.files)
        told = {
            "case": case.name,
            "kind": kind,
            "message": message,
            "mutations": list(case.mutations),
            "options": list(small.options),
            "replay": f"python -m benchmarks.robustness --replay {folder}",
        }
        (folder / "failure.json").write_text(json.dumps(told, indent=2) + "\n")
        return folder


def _alike(warm: Warm, case: Case, kind: str, name: str) -> bool:
    """Whether it fails in the same way: with the same message, or, where the time is up, in less time than it may take."""
    if kind == "hang":
        return any(failed == kind for failed, _ in warm.judge(case, seconds=_HANG_S).failures)
    return name in {signature(*failure) for failure in warm.judge(case).failures}


def stored(folder: Path) -> Case:
    """The smaller case of a kept failure."""
    told = json.loads((folder / "failure.json").read_text())
    return Case(
        told["case"],
        told["kind"],
        read(folder / "minimised"),
        tuple(told["mutations"]),
        tuple(told["options"]),
    )
