"""What `jaxlint verify --apply` finds alone in ordinary programs, beside an expert's version of each.

    python -m benchmarks.optimise [--blind] [PROGRAM...] [--budget TIME] [--repeats N] [--output FILE.md] [--keep FOLDER]

Each folder of `programs/` (with `--blind` each of `blind/`, programs that verify was not written for) has `naive.py` and `expert.py`, which print the same lines; where the expert's ideas come from stands at the top of
`expert.py`. verify runs at its default flags on a copy of `naive.py`; what it leaves there is run like the other two, in fresh
processes, in the order A B C C B A. The gain on an axis is naive minus other; the table has the share of the expert's gain that
verify reaches, on the axes where the interval of the expert's gain excludes none.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

PROGRAMS = Path(__file__).parent / "programs"
BLIND = Path(__file__).parent / "blind"
VERSIONS = ("naive", "verify", "expert")
AXES = {
    "step_s": ("time a line", "ms", 1e-3),
    "peak_bytes": ("peak memory", "MiB", 2**20),
    "cold_s": ("cold start", "s", 1.0),
}
_TOLERANCE = 0.02  # of a printed number: programs are compared after many steps
_LEAST_GAIN = 1.03  # the lower bound of an expert's ratio that counts as a gain


@dataclass(frozen=True)
class Share:
    """A figure with its interval."""

    median: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.median:.2f} [{self.low:.2f}, {self.high:.2f}]"


@dataclass
class Outcome:
    """The runs of one program: by version, one record each."""

    name: str
    runs: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    applied: list[str] = field(default_factory=list)
    verify_seconds: float = 0.0
    problems: list[str] = field(default_factory=list)

    def values(self, version: str, axis: str) -> np.ndarray:
        """The figures of the runs, in order."""
        return np.array([run[axis] for run in self.runs[version]], float)

    def ratio(self, version: str, axis: str) -> Share:
        """How many times less than naive a version needs, from paired runs."""
        return _bootstrap(self.values("naive", axis) / self.values(version, axis))

    def recovered(self, axis: str) -> Share | None:
        """The share of the expert's gain that verify reaches; None where the expert gains nothing for certain."""
        if self.ratio("expert", axis).low < _LEAST_GAIN:
            return None
        naive, verify, expert = (self.values(version, axis) for version in VERSIONS)
        picks = np.random.default_rng(0).integers(0, len(naive), size=(2000, len(naive)))
        medians = [np.median(values[picks], axis=1) for values in (naive, verify, expert)]
        shares = (medians[0] - medians[1]) / np.maximum(medians[0] - medians[2], 1e-12)
        whole = (np.median(naive) - np.median(verify)) / (np.median(naive) - np.median(expert))
        return Share(float(whole), *(float(x) for x in np.percentile(shares, [2.5, 97.5])))


def _bootstrap(values: np.ndarray) -> Share:
    picks = np.random.default_rng(0).integers(0, len(values), size=(2000, len(values)))
    low, high = np.percentile(np.median(values[picks], axis=1), [2.5, 97.5])
    return Share(float(np.median(values)), float(low), float(high))


def optimise(program: Path, folder: Path, outcome: Outcome, budget: str | None = None) -> Path:
    """What verify makes of a copy of the naive program, in the time of `budget` where one is given (such as `2m`)."""
    target = folder / "verify.py"
    shutil.copy(program / "naive.py", target)
    report = folder / "report.json"
    command = [str(Path(sys.executable).with_name("jaxlint")), "verify", "-q", "--apply", "--allow-dirty"]
    command += ["--budget", budget] if budget else []
    command += ["--output-format", "json", "--output", str(report), "verify.py"]
    start = time.monotonic()
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    outcome.verify_seconds = time.monotonic() - start
    if done.returncode != 0 or not report.exists():
        outcome.problems.append(f"verify ended with {done.returncode}: {done.stderr.strip()[-300:]}")
        return target
    for entry in json.loads(report.read_text())["applied"]:
        state = "" if entry["kept"] else "not: "
        outcome.applied.append(f"{state}{entry['candidate']} ({entry['function']}): {entry['message']}")
    return target


def run(program: Path, folder: Path) -> dict[str, Any]:
    """One run in a fresh process."""
    result = folder / "result.json"
    result.unlink(missing_ok=True)
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "2"}
    command = [sys.executable, str(Path(__file__).with_name("observe.py")), str(program), str(result)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if not result.exists():
        raise RuntimeError(f"{program} failed: {done.stderr.strip()[-500:]}")
    return dict(json.loads(result.read_text()))


def measure(source: Path, repeats: int, folder: Path, budget: str | None = None) -> Outcome:
    """All runs of one program."""
    outcome = Outcome(source.name, {version: [] for version in VERSIONS})
    folder.mkdir(parents=True, exist_ok=True)
    paths = {"naive": source / "naive.py", "expert": source / "expert.py"}
    paths["verify"] = optimise(source, folder, outcome, budget)
    for number in range(repeats):
        for version in VERSIONS if number % 2 == 0 else VERSIONS[::-1]:
            outcome.runs[version].append(run(paths[version], folder))
    for version in VERSIONS[1:]:
        if (why := differs(outcome.runs["naive"][0]["lines"], outcome.runs[version][0]["lines"])) is not None:
            outcome.problems.append(f"{version} prints other values: {why}")
    return outcome


def differs(left: Sequence[str], right: Sequence[str]) -> str | None:
    """The first line in which two outputs differ beyond rounding."""
    number = re.compile(r"-?\d+\.\d+(?:e[+-]?\d+)?|-?\d+")
    for a, b in zip(left, right, strict=False):
        same = number.sub("#", a) == number.sub("#", b) and all(
            math.isclose(float(x), float(y), rel_tol=_TOLERANCE, abs_tol=1e-3)
            for x, y in zip(number.findall(a), number.findall(b), strict=True)
        )
        if not same:
            return f"{a!r} against {b!r}"
    return None if len(left) == len(right) else f"{len(left)} against {len(right)} lines"


def table(outcomes: Sequence[Outcome]) -> str:
    """The whole result as Markdown."""
    lines = ["| program | axis | naive | verify | expert | expert's gain | verify's gain | recovered |"]
    lines += ["| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |"]
    for outcome in outcomes:
        for axis, (label, unit, scale) in AXES.items():
            medians = [np.median(outcome.values(version, axis)) / scale for version in VERSIONS]
            share = outcome.recovered(axis)
            cells = [outcome.name, label, *(f"{value:.3g} {unit}" for value in medians)]
            cells += [f"{outcome.ratio('expert', axis)}", f"{outcome.ratio('verify', axis)}"]
            cells.append("the expert gains none" if share is None else str(share))
            lines.append("| " + " | ".join(cells) + " |")
    reached = [
        outcome.name
        for outcome in outcomes
        if any(
            (s := outcome.recovered(axis)) is not None and s.median >= 0.8
            for axis in ("step_s", "peak_bytes")
        )
    ]
    lines += [
        "",
        f"At least 80 % of the expert's gain in time or in memory: {len(reached)} of {len(outcomes)}",
    ]
    lines[-1] += f" ({', '.join(reached)})." if reached else "."
    lines += ["", "What verify did:", ""]
    for outcome in outcomes:
        lines.append(f"- {outcome.name} ({outcome.verify_seconds:.0f} s):")
        lines += [f"  - {entry}" for entry in outcome.applied] or ["  - nothing was written"]
        lines += [f"  - problem: {entry}" for entry in outcome.problems]
    return "\n".join(lines) + "\n"


def about(outcomes: Sequence[Outcome], repeats: int) -> str:
    """Where and how the figures were taken."""
    import jax

    device = outcomes[0].runs["naive"][0]["device"]
    return (
        f"Device: {device}; jax {jax.__version__}, Python {sys.version.split()[0]}; {repeats} runs of each version. Load of the "
        f"machine at the end: {os.getloadavg()[1]:.1f} on {os.cpu_count()} cores."
    )


def main() -> int:
    pairs = {
        root: sorted(path.name for path in root.iterdir() if (path / "naive.py").exists())
        for root in (PROGRAMS, BLIND)
    }
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("programs", nargs="*", metavar="PROGRAM", help=", ".join(pairs[PROGRAMS]))
    parser.add_argument("--blind", action="store_true", help=f"of {', '.join(pairs[BLIND])}")
    parser.add_argument("--budget", metavar="TIME", help="the time that verify may take for each program")
    parser.add_argument("--repeats", type=int, default=5, help="runs of each version")
    parser.add_argument("--output", type=Path, help="write the table here, too")
    parser.add_argument("--keep", type=Path, help="keep the optimised programs in this folder")
    arguments = parser.parse_args()
    folder = BLIND if arguments.blind else PROGRAMS
    names = pairs[folder]
    if unknown := set(arguments.programs) - set(names):
        parser.error(f"no such program: {', '.join(sorted(unknown))}; there are {', '.join(names)}")
    outcomes = []
    with tempfile.TemporaryDirectory() as scratch:
        root = (arguments.keep or Path(scratch)).resolve()
        for name in arguments.programs or names:
            print(f"{name} ...", file=sys.stderr, flush=True)
            outcomes.append(measure(folder / name, arguments.repeats, root / name, arguments.budget))
            text = f"{table(outcomes)}\n{about(outcomes, arguments.repeats)}\n"
            if arguments.output is not None:  # what is known so far, should this be cut short
                arguments.output.write_text(text)
    print(text)
    return 1 if any(outcome.problems for outcome in outcomes) else 0


if __name__ == "__main__":
    sys.exit(main())
