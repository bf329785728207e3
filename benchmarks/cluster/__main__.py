"""The command: `python -m benchmarks.cluster --write benchmarks/results/cluster.md`. It takes five minutes on two cores."""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import jax

from benchmarks.cluster.programs import CASES, SOURCE, Case, line_of
from benchmarks.pages import page_of_figures, put
from jaxlint_runtime.lockstep.order import Order, Rank
from jaxlint_runtime.protocol.launch_records import Began, Joined, Launched, Program
from jaxlint_runtime.workers.ranks import free_port

_STALL = 3.0
_LAUNCHES, _ROUNDS = 500, 5


@dataclass(frozen=True, slots=True)
class Found:
    """What was said of a case; `right` where verdict, process and line are what they have to be."""

    case: Case
    verdict: str
    said: str
    right: bool
    seconds: float


def lockstep(folder: Path, *arguments: str, devices: int = 2) -> subprocess.CompletedProcess[str]:
    """The command line, in a folder with the program."""
    command = [
        sys.executable,
        "-m",
        "jaxlint",
        "verify",
        "--lockstep",
        "--processes",
        "2",
        "--local-devices",
        str(devices),
    ]
    command += ["--stall", str(_STALL), "--output-format", "json", "train.py", "--", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)


def run(folder: Path, case: Case) -> Found:
    """One case."""
    started = time.monotonic()
    done = lockstep(folder, case.how)
    seconds = time.monotonic() - started
    found = json.loads(done.stdout)["lockstep"]
    said = f"{found['message']}; {found['why'] or ''}" + str([one["stands"] for one in found["ranks"]])
    named = found["processes"] == ([] if case.process is None else [case.process])
    line = line_of(case.line)
    placed = f"train.py:{line}" in said or f"'line': {line}" in said
    return Found(
        case,
        found["verdict"],
        found["message"],
        found["verdict"] == case.verdict and named and placed,
        seconds,
    )


def alone(folder: Path) -> float:
    """Microseconds of a launch without jaxlint: the same two processes, started by hand."""
    port = free_port()
    environment = {
        **os.environ,
        "JAX_PLATFORMS": "cpu",
        "XLA_FLAGS": "--xla_force_host_platform_device_count=1",
    }
    text = SOURCE.replace(
        "jax.distributed.initialize()",
        f'jax.distributed.initialize("127.0.0.1:{port}", 2, int(os.environ["RANK"]))',
    )
    (folder / "alone.py").write_text(text, encoding="utf-8")
    started = [
        subprocess.Popen(
            [sys.executable, "alone.py", "measured", str(_LAUNCHES)],
            cwd=folder,
            env={**environment, "RANK": str(number)},
            stdout=subprocess.PIPE,
            text=True,
        )
        for number in range(2)
    ]
    outputs = [one.communicate(timeout=300)[0] for one in started]
    return _microseconds("\n".join(outputs))


def watched(folder: Path) -> float:
    """The same under `--lockstep`."""
    return _microseconds(lockstep(folder, "measured", str(_LAUNCHES), devices=1).stderr)


def _microseconds(text: str) -> float:
    line = next(line for line in text.splitlines() if "microseconds" in line)
    return float(line.rpartition(" ")[2])


def order_speed(processes: int, launches: int) -> float:
    """Launches a second that the rendezvous takes in, of so many processes that each launch one program again and again."""
    order = Order()
    everyone = tuple(range(processes))
    for number in everyone:
        rank = Rank()
        for record in (
            Began("host", number),
            Joined(number, processes),
            Program(1, "step", "hash", everyone),
        ):
            rank.hear(record, 0.0)
        order.add(rank)
    started = time.perf_counter()
    for _ in range(launches):
        for number in everyone:
            order.ranks[number].hear(Launched(1, 0), 0.0)
            assert order.advance(number) == ()
    assert order.started == launches
    return processes * launches / (time.perf_counter() - started)


def table(found: list[Found], plain: list[float], hooked: list[float]) -> str:
    """The figures as they stand on the page."""
    lines = [
        f"{datetime.date.today().isoformat()}, {os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}, "
        f"jax {jax.__version__}, two processes with 2 CPU devices each (1 where launches are timed), `--stall {_STALL:g}`.",
        "",
        f"Verdict, process and line are right in {sum(one.right for one in found)} of {len(found)} cases.",
        "",
        "| what goes wrong | verdict | what is said | right | seconds |",
        "| --- | --- | --- | --- | ---: |",
    ]
    lines += [
        f"| {one.case.what} | {one.verdict} | {one.said} | {'yes' if one.right else 'no'} | {one.seconds:.1f} |"
        for one in found
    ]
    lines += [
        "",
        f"| a launch of a program of two processes, {_LAUNCHES} in a row, {_ROUNDS} runs | median | lowest | highest |",
        "| --- | ---: | ---: | ---: |",
    ]
    lines += [
        f"| {name} | {statistics.median(one):.0f} µs | {min(one):.0f} µs | {max(one):.0f} µs |"
        for name, one in (("by itself", plain), ("under `--lockstep`", hooked))
    ]
    lines += ["", "| processes | launches read a second |", "| ---: | ---: |"]
    lines += [f"| {count} | {order_speed(count, 40_000 // count):,.0f} |" for count in (2, 8, 64, 512)]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure, and print or write the page's figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", type=page_of_figures, help="the page whose figures are replaced")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "train.py").write_text(SOURCE, encoding="utf-8")
        found = []
        for case in CASES:
            found.append(run(folder, case))
            print(found[-1], file=sys.stderr)
        pairs = [(alone(folder), watched(folder)) for _ in range(_ROUNDS)]
        figures = table(found, [one for one, _ in pairs], [one for _, one in pairs])
    if options.write is None:
        print(figures)
        return
    put(options.write, figures)


if __name__ == "__main__":
    main()
