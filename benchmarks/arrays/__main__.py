"""Hold `jaxlint inspect --arrays` against the arrays that variables were while the tests of packages ran.

    python -m benchmarks.arrays --packages optax flax blackjax dm-haiku --seconds 30 --write benchmarks/results/arrays.md
    python -m benchmarks.arrays --packages optax flax --again      the kept recordings, with what jaxlint says now
    python -m benchmarks.arrays --programs benchmarks/optimise/blind --seconds 5

The Python that runs the tests and programs needs pytest, JAX and what they import. Seconds are those of its processor time.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
from pathlib import Path
from typing import Any

from benchmarks.arrays import programs
from benchmarks.arrays.score import Score, cases_of, scored
from benchmarks.corpora.fetch import FetchError, cache_folder
from benchmarks.corpora.present import table
from benchmarks.corpora.run import default_command
from benchmarks.pages import page_of_figures, put
from benchmarks.staging import packages
from benchmarks.staging.commands import jaxlint, pytest_under, run_for

INSTRUMENT = Path(__file__).with_name("instrument")
GRACE_S = 900  # for imports, collection and the last test, on a machine that does other things too


def claims_of(subject: packages.Subject, command: list[str]) -> list[dict[str, Any]]:
    """What jaxlint says, by absolute path."""
    claims = jaxlint(command, "inspect", subject, "--arrays")
    for claim in claims:
        claim["path"] = str((subject.root / claim["path"]).resolve())
    return claims


def recording_of(subject: packages.Subject, cache: Path) -> Path:
    """Where the recording of a package is kept."""
    folder = cache / "arrays"
    folder.mkdir(parents=True, exist_ok=True)
    return folder / f"{subject.name}-{subject.version}.json"


def recorded(
    subject: packages.Subject, python: str, seconds: float, seed: int, cache: Path
) -> dict[str, Any]:
    """What variables were in a sample of the tests that takes about `seconds`."""
    out = recording_of(subject, cache)
    out.unlink(missing_ok=True)
    command = pytest_under("jaxlint_arrays", python, subject, out.with_suffix(".ini"))
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(INSTRUMENT), str(subject.imports.resolve()), str(subject.root.resolve())]),
        "JAX_PLATFORMS": "cpu",
        "JAX_DISABLE_MOST_OPTIMIZATIONS": "1",
        "ARRAYS_ROOTS": os.pathsep.join(str((subject.root / path).resolve()) for path in subject.sources),
        "ARRAYS_OUT": str(out.resolve()),
        "ARRAYS_SECONDS": f"{seconds}",
        "ARRAYS_TEST_SECONDS": f"{max(10.0, seconds / 4)}",
        "ARRAYS_SEED": f"{seed}",
    }  # fmt: skip
    run_for(10 * seconds + GRACE_S, command, subject, environment, out.with_suffix(".log"))
    if not out.exists():
        raise FetchError(f"{subject.name}: nothing was recorded; see {out.with_suffix('.log')}")
    return dict(json.loads(out.read_text()))


def row(name: str, ran: int, score: Score) -> list[str]:
    def share(part: int, whole: int) -> str:
        return f"{100 * part / whole:.0f} %" if whole else "-"

    return [
        name,
        str(ran),
        str(score.places),
        share(score.dtype_and_rank, score.places),
        share(score.all_sizes, score.places),
        str(score.claims),
        f"{len(score.wrong)} ({100 * score.right:.1f} %)",
        str(score.values),
        share(score.ranked_values, score.values),
        share(score.sized_values, score.values),
        str(score.open),
        f"{len(score.wrong_open)} ({100 * score.all_right:.1f} %)",
    ]


HEADER = (
    "package",
    "tests",
    "places",
    "dtype and rank",
    "all sizes",
    "complete claims",
    "wrong (right)",
    "values",
    "dtype and rank",
    "all sizes",
    "open claims",
    "wrong (right of both)",
)


def show(score: Score, root: Path, most: int) -> None:
    """Prints wrong claims."""
    for place, claim, found in [*score.wrong[:most], *score.wrong_open[:most]]:
        path = Path(place[0])
        shown = path.relative_to(root) if path.is_relative_to(root) else path
        said = [(case["dtype"], case["shape"]) for case in cases_of(claim)]
        print(f"  {shown}:{place[1]} {place[3]}: {said} and {found}")


def score_programs(options: argparse.Namespace, command: list[str]) -> list[list[str]]:
    """A row for each folder of programs."""
    rows: list[list[str]] = []
    for folder in options.programs:
        together, ran = Score(), 0
        for program in programs.programs_below(folder):
            try:
                truth = programs.recorded(program, options.python, options.seconds, options.cache)
            except FetchError as error:
                print(f"error: {error}", file=sys.stderr)
                continue
            score = scored(programs.claims_of(program, command), truth["places"])
            print(*row(programs.name_of(program), 1, score), flush=True)
            show(score, program.parent.resolve(), options.show)
            together, ran = together + score, ran + 1
        rows.append(row(folder.name, ran, together))
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.arrays", description=__doc__)
    parser.add_argument("--packages", nargs="+", default=[], metavar="NAME[==VERSION]")
    parser.add_argument(
        "--programs", nargs="+", default=[], type=Path, metavar="FOLDER", help="programs of one file"
    )
    parser.add_argument("--python", default=sys.executable, help="what runs the tests [%(default)s]")
    parser.add_argument(
        "--path",
        action="append",
        default=[],
        metavar="NAME=FOLDER",
        help="a checkout of a package with its tests",
    )
    parser.add_argument("--seconds", type=float, default=60, help="for the tests of a package [%(default)s]")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--again", action="store_true", help="score the recordings in the cache again, and run no test"
    )
    parser.add_argument("--cache", type=Path, default=cache_folder() / "staging", help="[%(default)s]")
    parser.add_argument("--jaxlint", default="", metavar="COMMAND")
    parser.add_argument("--show", type=int, default=0, metavar="N", help="wrong claims to list")
    parser.add_argument(
        "--write", type=page_of_figures, metavar="FILE", help="the page whose figures are replaced"
    )
    options = parser.parse_args()
    checkouts = dict(item.split("=", 1) for item in options.path)
    rows: list[list[str]] = []
    together, ran = Score(), 0
    for package in options.packages:
        try:
            checkout = checkouts.get(package.partition("==")[0])
            subject = packages.subject(package, options.cache, Path(checkout) if checkout else None)
            claims = claims_of(subject, shlex.split(options.jaxlint) or default_command())
            kept = recording_of(subject, options.cache)
            if options.again and kept.exists():
                truth = json.loads(kept.read_text())
            else:
                truth = recorded(subject, options.python, options.seconds, options.seed, options.cache)
        except (FetchError, OSError) as error:
            print(f"error: {error}", file=sys.stderr)
            continue
        score = scored(claims, truth["places"])
        rows.append(row(f"{subject.name} {subject.version}", truth["ran"], score))
        print(*rows[-1], flush=True)
        show(score, subject.root.resolve(), options.show)
        together, ran = together + score, ran + truth["ran"]
    if len(rows) > 1:
        rows.append(row("together", ran, together))
    rows += score_programs(options, shlex.split(options.jaxlint) or default_command())
    if not rows:
        return 2
    text = table(HEADER, rows)
    print(text)
    if options.write:
        put(options.write, text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
