"""What each candidate of `verify` gains on the GPU at hand: memory and time of the compiled step, before and after.

    python -m benchmarks.gpu [--output FILE.md]

The programs are those of `benchmarks/optimise/programs`, at sizes that keep a GPU busy. What verify writes into programs that
are bound by their host is another table: `python -m benchmarks.optimise NAME...`, which runs on the GPU where there is one.
"""

from __future__ import annotations

import argparse
import json
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PROGRAMS = Path(__file__).parent / "optimise" / "programs"
# Each with the arguments that make it large.
CASES = {
    "transformer": ("--steps", "6", "--batch-size", "256"),
    "attention": ("--steps", "6", "--batch-size", "8", "--length", "4096"),
    "cross_entropy": ("--steps", "6", "--tokens", "16384"),
}
_MIB = 2**20
_HEAD = "| program | candidate | verdict | memory before | after | time before | after | times as fast |"


def report_of(name: str, folder: Path, seconds: float) -> Any:
    """The report of `verify` on one program."""
    shutil.copy(PROGRAMS / name / "naive.py", folder / f"{name}.py")
    command = [str(Path(sys.executable).with_name("jaxlint")), "verify", "-q", "--timing", str(seconds)]
    for transform in ("donation", "remat", "bf16", "kernels", "cross_entropy", "fusions"):
        command += ["--transform", transform]
    command += ["--output-format", "json", f"{name}.py", "--", *CASES[name]]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{name}: verify ended with {done.returncode}: {done.stderr.strip()[-800:]}")
    return json.loads(done.stdout)


def rows(name: str, results: list[Any]) -> Iterator[str]:
    """One row for each candidate that was compiled."""
    for one in results:
        before, after = one["before"], one["after"]
        if before and after and after["time_ms"]:
            speedup = one["speedup"]
            gain = (
                f"{speedup['median']:.2f} [{speedup['low']:.2f}, {speedup['high']:.2f}]" if speedup else "-"
            )
            yield (
                f"| {name} | {one['candidate']} | {one['status']} | {before['peak_bytes'] / _MIB:,.0f} MiB "
                f"| {after['peak_bytes'] / _MIB:,.0f} MiB | {before['time_ms']['median']:.3g} ms "
                f"| {after['time_ms']['median']:.3g} ms | {gain} |"
            )
        elif one["status"] != "not-applicable":
            yield f"| {name} | {one['candidate']} | {one['status']} | | | | | {one['reason'][:100]} |"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("programs", nargs="*", default=list(CASES), metavar="PROGRAM")
    parser.add_argument("--timing", type=float, default=1.0, help="seconds for timing one candidate")
    parser.add_argument("--output", type=Path)
    arguments = parser.parse_args()
    lines = [_HEAD, "| --- | --- | --- | ---: | ---: | ---: | ---: | ---: |"]
    notes = []
    for name in arguments.programs:
        start = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            report = report_of(name, Path(folder), arguments.timing)
        (run,) = report["runs"]
        lines += rows(name, run["results"])
        notes.append(f"{name}: {' '.join(CASES[name])}, verify took {time.monotonic() - start:.0f} s")
        versions = run["versions"]
        where = f"{run['device']}; jax {versions['jax']}, jaxlib {versions['jaxlib']}, Python {platform.python_version()}"
    lines += ["", *(f"- {note}" for note in notes), "", where]
    text = "\n".join(lines) + "\n"
    print(text)
    if arguments.output is not None:
        arguments.output.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
