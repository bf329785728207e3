"""What a run of a whole program costs beside the program: its worker started afresh, and forked from one that has imported JAX.

    python -m benchmarks.worker_starts [--pairs N] [MODULE...]

Both sides take turns in the order A B B A. A run imports the modules (jax, optax and flax.linen), and its program prints a line.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from jaxlint_runtime.protocol.jobs import Launch, Trial
from jaxlint_runtime.workers.cleanup import cleaned_up
from jaxlint_runtime.workers.following import follow
from jaxlint_runtime.workers.forking import forking
from jaxlint_runtime.workers.process import WorkerProcess
from jaxlint_runtime.workers.process_group import Starter

_LIMIT = 2**33  # bytes


def seconds_of(program: Path, modules: Sequence[str], starter: Starter | None) -> float:
    """From the start of a worker to the end of its process."""
    begun = time.monotonic()
    with WorkerProcess(
        Trial(Launch("script", str(program)), preload=tuple(modules)),
        python=sys.executable,
        folder=str(program.parent),
        environment=os.environ,
        memory_limit=_LIMIT,
        output=lambda stream, data: None,
        starter=starter,
    ) as worker:
        follow(worker, lambda event: None, list)
    return time.monotonic() - begun


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("modules", nargs="*", default=["jax", "optax", "flax.linen"], metavar="MODULE")
    parser.add_argument("--pairs", type=int, default=6)
    arguments = parser.parse_args()
    with cleaned_up(), tempfile.TemporaryDirectory() as folder:
        program = Path(folder, "program.py")
        program.write_text("print(1)\n")
        begun = time.monotonic()
        server = forking(sys.executable, arguments.modules, os.environ, {}, program.parent, _LIMIT, 120.0)
        if server is None:
            sys.exit("these modules must not be forked")
        print(f"imports, once: {time.monotonic() - begun:.2f} s")
        pairs = []
        for number in range(arguments.pairs):
            sides: list[Starter | None] = [None, server]
            times = {
                one: seconds_of(program, arguments.modules, one) for one in sides[:: -1 if number % 2 else 1]
            }
            pairs.append((times[None], times[server]))
    ratios = sorted(fresh / forked for fresh, forked in pairs)
    for name, values in zip(("fresh", "forked"), zip(*pairs, strict=True), strict=True):
        print(f"{name}: {statistics.median(values):.2f} s ({min(values):.2f} to {max(values):.2f})")
    print(
        f"fresh to forked: {statistics.median(ratios):.1f} ({ratios[0]:.1f} to {ratios[-1]:.1f}); load {os.getloadavg()[0]:.0f}"
    )


if __name__ == "__main__":
    main()
