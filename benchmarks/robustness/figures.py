"""What a run tried and what it found, as a table, as JSON, and as the page of results."""

from __future__ import annotations

import dataclasses
import json
import os
import platform
from collections import Counter
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

from benchmarks.corpora.present import table
from benchmarks.pages import put


@dataclass(slots=True)
class Figures:
    """Counts of one run. Times are seconds of processor time, memory is the resident peak in MB (10^6 bytes)."""

    seed: int = 0
    minutes: float = 0.0
    workers: int = 1
    files: int = 0
    by_kind: Counter[str] = field(default_factory=Counter)
    mutations: Counter[str] = field(default_factory=Counter)
    counts: Counter[str] = field(default_factory=Counter)
    trials: Counter[str] = field(default_factory=Counter)
    longest: float = 0.0
    longest_case: str = ""
    largest_mb: float = 0.0
    largest_case: str = ""
    deaths: int = 0
    failures: Counter[str] = field(default_factory=Counter)
    machine: str = field(
        default_factory=lambda: (
            f"{os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}"
        )
    )
    day: str = field(default_factory=lambda: date.today().isoformat())

    def took(self, case: str, seconds: float, mb: float) -> None:
        """How long the longest command on a case took, and what it needed."""
        if seconds > self.longest:
            self.longest, self.longest_case = seconds, case
        if mb > self.largest_mb:
            self.largest_mb, self.largest_case = mb, case

    def as_table(self) -> str:
        """The figures, as text that is Markdown too."""
        rows = [
            ("cases", f"{sum(self.by_kind.values()):,}"),
            *((f"- {kind}", f"{number:,}") for kind, number in sorted(self.by_kind.items())),
            ("files", f"{self.files:,}"),
            ("mutations", f"{sum(self.mutations.values()):,}"),
            *((name, f"{number:,}") for name, number in sorted(self.counts.items())),
            *((name, f"{number:,}") for name, number in sorted(self.trials.items())),
            ("longest command, s", f"{self.longest:.1f} ({self.longest_case})"),
            ("largest resident memory, MB", f"{self.largest_mb:.0f} ({self.largest_case})"),
            ("failures", f"{sum(self.failures.values()):,}"),
            *(
                (f"- {name.replace('|', '/')}", f"{number:,}")
                for name, number in sorted(self.failures.items())
            ),
        ]
        return table(("what", "number"), rows)

    def store(self, path: Path) -> None:
        """As JSON."""
        told = {entry.name: getattr(self, entry.name) for entry in dataclasses.fields(self)}
        path.write_text(json.dumps(told, indent=2) + "\n")


def load(path: Path) -> Figures:
    """Read what `store` wrote."""
    told: dict[str, Any] = json.loads(path.read_text())
    fresh = Figures()
    for name, value in told.items():
        setattr(fresh, name, Counter(value) if isinstance(getattr(fresh, name), Counter) else value)
    return fresh


def write_page(figures: Figures, page: Path) -> None:
    """Put the table between the marks of the page, and leave the rest of it alone."""
    told = (
        f"{figures.day}, {figures.machine}: seed {figures.seed}, {figures.minutes:g} minutes, "
        f"{figures.workers} worker{'s' if figures.workers != 1 else ''}.\n\n{figures.as_table()}\n"
    )
    put(page, told)
