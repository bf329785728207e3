"""The command: `python -m benchmarks.robustness --seed 1 --minutes 60 --workers 1`."""

from __future__ import annotations

import argparse
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

from benchmarks.pages import page_of_figures
from benchmarks.robustness import adversarial, cases, failures, faults, faulty, figures
from benchmarks.robustness.pool import Warm

# Of the time: cases; processes of `fix` that are killed, have no room, or are not alone; `verify` under faults.
_SHARES = {"case": 0.65, "fix": 0.22, "verify": 0.13}


class Run:
    """One run: workers take the next case until the time is up."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.figures = figures.Figures(options.seed, options.minutes, options.workers)
        self.failures = failures.Failures(options.failures)
        self._lock = threading.Lock()
        self._next = options.start
        self._until = time.monotonic() + 60 * options.minutes
        self._last = 0.0

    def run(self) -> None:
        """Cases and faults, side by side when there are several workers, else in turn."""
        threads = [
            threading.Thread(target=self._work, args=(number,)) for number in range(self.options.workers)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.figures.failures = Counter(self.failures.counts)

    def _work(self, number: int) -> None:
        with (
            tempfile.TemporaryDirectory(prefix="jaxlint-fuzz-", ignore_cleanup_errors=True) as name,
            Warm(Path(name)) as warm,
        ):
            trials = faults.Trials(Path(name), f"{self.options.seed}:{number}", warm)
            rounds = faulty.Rounds(Path(name), f"{self.options.seed}:{number}")
            turns = {
                "case": lambda: self._case(warm),
                "fix": lambda: self._trial(trials),
                "verify": lambda: self._round(rounds),
            }
            spent = dict.fromkeys(["case"] if self.options.cases_only else turns, 0.0)
            while time.monotonic() < self._until and not self._enough():
                turn = min(spent, key=lambda one: spent[one] / _SHARES[one])
                started = time.monotonic()
                try:
                    turns[turn]()
                except Exception as error:  # of the harness: it costs its turn, and is seen
                    what = " ".join(f"{type(error).__name__}: {error}".split())
                    self._failed(cases.Case(turn, "harness", {}, ()), "harness", what, None)
                spent[turn] += time.monotonic() - started
                self._tell()
            self.figures.deaths += warm.deaths

    def _enough(self) -> bool:
        return self.options.cases is not None and self._next >= self.options.start + self.options.cases

    def _case(self, warm: Warm) -> None:
        with self._lock:
            number, self._next = self._next, self._next + 1
            case = cases.case(self.options.seed, number)
        verdict = warm.judge(case, number)
        with self._lock:
            told = self.figures
            told.by_kind[case.kind] += 1
            told.files += len(case.files)
            told.mutations.update(case.mutations)
            told.counts.update(verdict.counts)
            told.took(case.name, verdict.longest, verdict.peak_mb)
        for kind, message in verdict.failures:
            self._failed(case, kind, message, warm)

    def _trial(self, trials: faults.Trials) -> None:
        name, found = trials.next()
        with self._lock:
            self.figures.trials[name] += 1
        for case, kind, message in found:
            self._failed(case, kind, message, None)

    def _round(self, rounds: faulty.Rounds) -> None:
        name, found = rounds.next()
        with self._lock:
            self.figures.trials[name] += 1
        for problem in found.problems:
            self._failed(cases.Case(found.name, "verify", {}, ()), "verify", f"{found.name}: {problem}", None)

    def _failed(self, case: cases.Case, kind: str, message: str, warm: Warm | None) -> None:
        folder = self.failures.add(case, kind, message, warm)
        if folder is not None:
            print(
                f"{kind}: {message}\n  case {case.name}, minimised in {folder}/minimised\n  again: python -m benchmarks.robustness --replay {folder}",
                flush=True,
            )

    def _tell(self) -> None:
        with self._lock:
            now = time.monotonic()
            if now - self._last < 30:
                return
            self._last = now
            tried = self.figures
            print(
                f"{max(0.0, self._until - now) / 60:.1f} minutes left: {sum(tried.by_kind.values()):,} cases, {sum(tried.trials.values())} trials, "
                f"{sum(self.failures.counts.values())} failures of {len(self.failures.counts)} kinds",
                file=sys.stderr,
                flush=True,
            )


def replay(folder: Path) -> int:
    """Judge a kept failure again."""
    case = failures.stored(folder)
    with tempfile.TemporaryDirectory(prefix="jaxlint-fuzz-") as name, Warm(Path(name)) as warm:
        verdict = warm.judge(case)
    for kind, message in verdict.failures:
        print(f"{kind}: {message}")
    print(
        f"longest {verdict.longest:.1f} s, {verdict.peak_mb:.0f} MB"
        if not verdict.failures
        else f"{len(verdict.failures)} failures"
    )
    return int(bool(verdict.failures))


def arguments() -> argparse.Namespace:
    """What was asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.robustness", description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--start", type=int, default=0, help="number of the first case [%(default)s]")
    parser.add_argument("--cases", type=int, help="stop after so many cases")
    parser.add_argument(
        "--cases-only",
        action="store_true",
        help="without processes that are killed, have no room or are not alone",
    )
    parser.add_argument(
        "--failures", type=Path, default=Path(".fuzz"), help="folder for what fails [%(default)s]"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures")
    parser.add_argument(
        "--page", type=page_of_figures, metavar="FILE", help="write the figures into this page"
    )
    parser.add_argument(
        "--from",
        dest="source",
        type=Path,
        metavar="FILE",
        help="with --page: figures that --json wrote, without a run",
    )
    parser.add_argument("--replay", type=Path, metavar="FOLDER", help="judge a kept failure again")
    parser.add_argument(
        "--programs",
        type=Path,
        nargs="+",
        metavar="FOLDER",
        help="run `verify --apply` on each program of these folders instead",
    )
    parser.add_argument(
        "--edits",
        nargs="+",
        choices=adversarial.EDITS,
        default=["verify"],
        help="with --programs: which edits to make [%(default)s]",
    )
    parser.add_argument("--timing", help="with --programs: of verify, for timing one candidate")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="with --programs: keep what was edited")
    return parser.parse_args()


def main() -> int:
    """0 when nothing failed, 1 otherwise."""
    options = arguments()
    if options.replay is not None:
        return replay(options.replay)
    if options.programs is not None:
        more = ("--timing", options.timing) if options.timing else ()
        return adversarial.run_folders(options.programs, options.edits, more, options.keep)
    if options.source is not None:
        figures.write_page(figures.load(options.source), options.page)
        return 0
    run = Run(options)
    run.run()
    print(run.figures.as_table())
    if options.json is not None:
        run.figures.store(options.json)
    if options.page is not None:
        figures.write_page(run.figures, options.page)
    return int(bool(run.failures.counts))


if __name__ == "__main__":
    sys.exit(main())
