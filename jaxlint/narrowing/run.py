"""Narrows the result of a run to the findings that its user wants to see."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from jaxlint.config import Config, common_folder
from jaxlint.engine import CheckResult
from jaxlint.finding import Finding
from jaxlint.narrowing.baseline import Baseline, Split, place_of, read_baseline
from jaxlint.narrowing.changed import Revision
from jaxlint.source.read import shown_path


@dataclass(frozen=True, slots=True)
class Narrowing:
    """What to leave out of a result: findings in `baseline`, and those on lines that are unchanged since `revision`."""

    baseline: Baseline | None = None
    revision: Revision | None = None

    @staticmethod
    def of(
        config: Config,
        *,
        baseline: Path | None = None,
        use_baseline: bool = True,
        diff: str | None = None,
        about: Iterable[str | Path] = (),
    ) -> Narrowing:
        """The narrowing from the settings and options: a file, or a revision of the repository around the files in
        `about`. Raises ConfigError."""
        place = place_of(config, baseline) if use_baseline else None
        return Narrowing(
            read_baseline(place) if place is not None else None,
            Revision.of(diff, common_folder(about)) if diff is not None else None,
        )

    @property
    def active(self) -> bool:
        """Whether anything may be left out, so that the findings to show are known only at the end."""
        return self.baseline is not None or self.revision is not None

    def apply(self, result: CheckResult, config: Config, searched: Iterable[str | Path]) -> None:
        """Removes hidden findings from `result`; reports entries of the baseline that are gone."""
        if self.baseline is not None:
            split = seen_beside(self.baseline, result, config, searched)
            shown = set(map(id, split.new))
            known = [one for one in result.findings if id(one) not in shown]
            result.findings = [one for one in result.findings if id(one) in shown]
            result.known = len(known)
            if split.stale:
                result.warnings.append(_said_of_stale(self.baseline, split))
        if self.revision is not None:
            before = len(result.findings)
            result.findings = self.revision.on_changed_lines(result.findings, result.sources)
            result.unchanged = before - len(result.findings)


def seen_beside(
    baseline: Baseline, result: CheckResult, config: Config, searched: Iterable[str | Path] = ()
) -> Split:
    """The findings of a run compared with a baseline. Findings below the severity limit keep their entries."""
    findings: list[Finding] = sorted([*result.findings, *result.below], key=lambda one: one.sort_key)
    return baseline.split(
        findings,
        result.sources,
        codes=frozenset(rule.code for rule in config.rules()),
        unread=[error.path for error in result.errors],
        searched=searched,
    )


def _said_of_stale(baseline: Baseline, split: Split) -> str:
    number = len(split.stale)
    what = "1 entry matches" if number == 1 else f"{number} entries match"
    return f"{shown_path(baseline.path)}: {what} no finding; `jaxlint baseline --update` removes {'it' if number == 1 else 'them'}"
