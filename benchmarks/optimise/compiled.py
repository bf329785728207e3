"""How much of an expert's gain in peak memory `jaxlint verify` reaches on a device that is only compiled for.

    python -m benchmarks.optimise.compiled [PROGRAM...] [--target tpu:v5e-1x1] [--output FILE.md]

The programs are those of `programs/` whose expert version trades memory: `attention`, `cross_entropy`, `transformer`. The compiler of the target
says what `train_step` needs: as it was written, in the best version that verify found (the arrays donated where that is possible), and as the
expert wrote it. Needs the extra of the target (`tpu`, `gpu`).
"""

from __future__ import annotations

import argparse
import json
import math
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

PROGRAMS = Path(__file__).parent / "programs"
NAMES = ("attention", "cross_entropy", "transformer")
_ARGUMENTS = ["--steps", "2"]
_MIB = 2**20


@dataclass
class Row:
    """What one program needs in bytes."""

    name: str
    naive: float
    found: float
    expert: float
    how: str
    others: list[str]
    seconds: float

    @property
    def recovered(self) -> float:
        """The share of the expert's gain; infinite if the expert's version needs as much as the original, NaN if its need
        is not known."""
        gain = self.naive - self.expert
        return math.inf if gain <= 0 else (self.naive - self.found) / gain


def verify(
    program: Path, target: str, folder: Path, transforms: list[str], function: str, arguments: list[str]
) -> Any:
    """What verify says of one function of a program: a record for each candidate and the original."""
    copy = folder / "program.py"
    if copy != program:
        shutil.copy(program, copy)
    report = folder / "report.json"
    command = [str(Path(sys.executable).with_name("jaxlint")), "verify", "-q", "--target", target]
    command += ["--timeout", "3000", "--output-format", "json", "--output", str(report)]
    for name in transforms:
        command += ["--transform", name]
    command += ["--save", str(folder / "costs.json"), str(copy), "--", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{program}: verify ended with {done.returncode}: {done.stderr.strip()[-800:]}")
    return [
        result
        for run in json.loads(report.read_text())["runs"]
        for result in run["results"]
        if result["function"] == function
    ]


def peak(result: Any) -> float:
    """Peak memory by the compiler, in bytes; NaN if it is not known."""
    return float((result.get("after") or {}).get("peak_bytes") or "nan")


def measure(name: str, target: str, transforms: list[str]) -> Row:
    """One program."""
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        found = verify(PROGRAMS / name / "naive.py", target, folder, transforms, "train_step", _ARGUMENTS)
        theirs = verify(PROGRAMS / name / "expert.py", target, folder, ["donation"], "train_step", _ARGUMENTS)
    expert = next(peak(result) for result in theirs if result["candidate"] == "original")
    return row_of(name, found, expert, time.monotonic() - start)


def row_of(name: str, found: Any, expert: float, seconds: float) -> Row:
    """The best of what verify found (as of `verify`) beside the bytes of the expert's version."""
    naive = next(peak(result) for result in found if result["candidate"] == "original")
    others = [result for result in found if result["candidate"] != "original"]
    best = min((result for result in others if result["status"] == "compiled"), key=peak, default=None)
    return Row(
        name,
        naive,
        naive if best is None else peak(best),
        expert,
        "nothing" if best is None else how(best),
        [f"{result['candidate']}: {result['status']}, {result['reason']}" for result in others],
        seconds,
    )


def how(result: Any) -> str:
    """The candidates that a result combines."""
    base = result["base"]
    return f"{base} + {result['candidate']}" if base else str(result["candidate"])


def _share(row: Row) -> str:
    if math.isnan(row.recovered):
        return "the expert's does not compile"
    return "the expert gains none" if math.isinf(row.recovered) else f"{row.recovered:.0%}"


def table(rows: list[Row], target: str) -> str:
    """The whole result as Markdown."""
    lines = ["| program | as written | by verify | by an expert | recovered | what verify found | took |"]
    lines += ["| --- | ---: | ---: | ---: | ---: | --- | ---: |"]
    for row in rows:
        sizes = [f"{size / _MIB:.1f} MiB" for size in (row.naive, row.found, row.expert)]
        lines.append(
            f"| {row.name} | {' | '.join(sizes)} | {_share(row)} | `{row.how}` | {row.seconds:.0f} s |"
        )
    lines += ["", "Every candidate:", ""]
    for row in rows:
        lines += [f"- {row.name}: {other}" for other in row.others]
    packages = ["jax", "jaxlib", *(["libtpu"] if target.startswith("tpu") else [])]
    versions = ", ".join(f"{name} {version(name)}" for name in packages)
    lines += [
        "",
        f"Target {target}, compiled for without the device; {versions}, Python {platform.python_version()}.",
    ]
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("programs", nargs="*", metavar="PROGRAM", help=", ".join(NAMES))
    parser.add_argument("--target", default="tpu:v5e-1x1")
    parser.add_argument("--transform", action="append", default=[], help="as of verify")
    parser.add_argument("--output", type=Path, help="write the table here, too")
    arguments = parser.parse_args()
    if unknown := set(arguments.programs) - set(NAMES):
        parser.error(f"no such program: {', '.join(sorted(unknown))}; there are {', '.join(NAMES)}")
    rows = []
    for name in arguments.programs or NAMES:
        print(f"{name} ...", file=sys.stderr, flush=True)
        rows.append(measure(name, arguments.target, arguments.transform))
        text = table(rows, arguments.target)
        if arguments.output is not None:  # what is known so far, should this be cut short
            arguments.output.write_text(text)
    print(text)
    return 0 if all(row.recovered >= 0.9 for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
