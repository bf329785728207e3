"""What a file says when it is checked alone is what it says in its project, or less.

    python -m benchmarks.corpora.alone [--packages NAME ...] [--sample N] [FOLDER ...]

Each file of a package is checked twice more than the package: where it stands, with the rest of the project as context, and as a
lone copy in an empty folder. A finding that is not in the whole, or is surer there, is shown. Exits with 1 when there is one.
"""

from __future__ import annotations

import argparse
import random
import shutil
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.corpora import fetch
from jaxlint.config import load_config
from jaxlint.engine import check
from jaxlint.finding import Finding, Severity

_SURENESS = (Severity.INFO, Severity.WARNING, Severity.ERROR)
CONTEXT, LONE = "with context", "lone copy"


@dataclass(slots=True)
class Outcome:
    """How many files were checked how, what they said, and what of it the whole package does not say."""

    files: int = 0
    whole: int = 0
    alone: int = 0
    more: list[tuple[str, Finding]] = field(default_factory=list)


def compare(package: Path, ways: Iterable[str] = (CONTEXT, LONE), sample: int = 0, seed: int = 0) -> Outcome:
    """Checks a copy of the folder `package`, and its files (`sample` of them, all when 0) alone."""
    outcome = Outcome()
    with tempfile.TemporaryDirectory() as scratch:
        top = Path(scratch).resolve() / "project"
        top.mkdir()
        (top / "pyproject.toml").write_text("")
        shutil.copytree(package, top / package.name, ignore=shutil.ignore_patterns("__pycache__", "*.so"))
        said: dict[Path, dict[object, Finding]] = {}
        for finding in _check(top):
            outcome.whole += 1
            said.setdefault(Path(finding.path).resolve(), {})[finding.code, finding.span] = finding
        files = sorted(top.rglob("*.py"))
        for path in random.Random(seed).sample(files, min(sample or len(files), len(files))):
            for way in ways:
                outcome.files += 1
                for finding in _check(path if way == CONTEXT else _copied(path, Path(scratch))):
                    outcome.alone += 1
                    whole = said.get(path, {}).get((finding.code, finding.span))
                    if whole is None or _sureness(finding) > _sureness(whole):
                        outcome.more.append((f"{path.relative_to(top)}, {way}", finding))
    return outcome


def _check(path: Path) -> list[Finding]:
    return check([path], load_config([path]), use_cache=False).findings


def _copied(path: Path, scratch: Path) -> Path:
    folder = scratch / "lone"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    return Path(shutil.copy(path, folder))


def _sureness(finding: Finding) -> int:
    return _SURENESS.index(finding.severity)


def main() -> int:
    """Compares the packages that the command line names; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.corpora.alone", description=__doc__)
    parser.add_argument("folders", nargs="*", type=Path, help="packages on this machine")
    parser.add_argument("--packages", nargs="+", default=[], help="from PyPI; `all` for packages.txt")
    parser.add_argument("--sample", type=int, default=0, help="files of each package; all when left out")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    names = sorted(fetch.pinned()) if options.packages == ["all"] else options.packages
    folders = list(options.folders)
    for name in names:
        root = fetch.fetch(name, fetch.cache_folder())
        folders += [one.parent for one in sorted(root.glob("*/__init__.py"))]
    total = 0
    for folder in folders:
        found = compare(folder, sample=options.sample, seed=options.seed)
        total += len(found.more)
        print(
            f"{folder.name}: {found.files} checks alone said {found.alone}, the whole {found.whole}; "
            f"{len(found.more)} not in the whole",
            flush=True,
        )
        for where, one in found.more:
            print(f"  {where}:{one.span.line}: {one.code} {one.severity.value} {one.message}")
    print(f"{total} findings of files alone are not in their packages")
    return 1 if total else 0


if __name__ == "__main__":
    sys.exit(main())
