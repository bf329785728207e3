"""Fixes a package as a whole, and holds the result against `tests/fuzzing/properties.py`."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from benchmarks.corpora.run import python_files
from jaxlint.source import SourceError, SourceFile, read_source
from tests.fuzzing.properties import Checker, contradictions, new_findings, not_at_rest, not_kept


def read(root: Path) -> Mapping[str, SourceFile]:
    """The files that can be read and parsed."""
    found = {}
    for path in python_files(root):
        try:
            source = read_source(path, str(path.relative_to(root)))
        except SourceError:
            continue
        found[source.display] = source
    return found


def examine(root: Path, target_jax: str, *, unsafe: bool = True) -> dict[str, object]:
    """One package: how many fixes were made, which were refused, and what does not hold."""
    started = time.perf_counter()
    checker = Checker(target_jax, lenient=True)
    sources = read(root)
    before = checker(sources)
    waiting = [before]
    result = checker.fixed(
        sources, unsafe=unsafe, check=lambda now: waiting.pop() if waiting else checker(now)
    )
    reasons = Counter(f"{one.finding.code}: {one.reason}" for one in result.refused)
    restless = [text for text in reasons if "undo each other" in text or "not converge" in text]
    return {
        "made": len(result.applied),
        "refused": reasons.total(),
        "for a comment": sum(count for text, count in reasons.items() if "comment" in text),
        "never at rest": [*restless, *(str(error) for error in result.errors)],
        "broken": [
            *not_kept(sources, result),
            *not_at_rest(result, checker, unsafe=unsafe),
            *contradictions(result, checker),
        ],
        "new findings": [
            " ".join(map(str, one)) for one in new_findings(before, result.remaining, led_on=True)
        ],
        "reasons": dict(reasons),
        "seconds": round(time.perf_counter() - started, 1),
    }
