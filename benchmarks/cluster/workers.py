"""The command: `python -m benchmarks.cluster.workers --write benchmarks/results/cluster.md`. It needs the extra `tpu`.

How the search over candidates that are only compiled takes less time with more workers of this machine.
"""

from __future__ import annotations

import argparse
import contextlib
import datetime
import os
import platform
import resource
import sys
import tempfile
import textwrap
import time
from dataclasses import dataclass, replace
from pathlib import Path

import jax

from benchmarks.pages import page_of_figures, put
from jaxlint_runtime.engines.choosing import open_engine, parse_workers
from jaxlint_runtime.engines.dispatch import Dispatch
from jaxlint_runtime.protocol.jobs import Capture
from jaxlint_runtime.request import Request
from jaxlint_runtime.run import Run
from jaxlint_runtime.verify import Verification
from jaxlint_runtime.workers.measuring_client import measure
from jaxlint_runtime.workers.scratch_copy import Scratch

START = "<!-- workers -->"
TARGETS = ("tpu:v5e-1x1", "tpu:v6e-1x1")
WORKERS = ("local:2", "local:1", None)
SOURCE = textwrap.dedent(
    """
    import jax
    import jax.numpy as jnp

    WIDTH, DEPTH, BATCH = 256, 3, 512


    def loss(params, x, y):
        for weights, bias in params:
            x = x + jnp.tanh(jax.nn.gelu(x @ weights + bias))
        return jnp.mean((x - y) ** 2)


    @jax.jit
    def step(params, momentum, x, y):
        value, gradients = jax.value_and_grad(loss)(params, x, y)
        momentum = jax.tree.map(lambda m, g: 0.9 * m + g, momentum, gradients)
        return jax.tree.map(lambda p, m: p - 1e-3 * m, params, momentum), momentum, value


    keys = jax.random.split(jax.random.key(0), DEPTH)
    params = [(jax.random.normal(key, (WIDTH, WIDTH)) / 16, jnp.zeros(WIDTH)) for key in keys]
    momentum = jax.tree.map(jnp.zeros_like, params)
    x = jax.random.normal(jax.random.key(1), (BATCH, WIDTH))
    for _ in range(6):
        params, momentum, value = step(params, momentum, x, jnp.sin(x))
    """
).lstrip()


@dataclass(frozen=True, slots=True)
class Took:
    """One search: its seconds, those of its processes' CPUs, and its results."""

    workers: str | None
    seconds: float
    cpu: float
    found: tuple[tuple[str, str, str], ...]  # target, candidate and status of each


class _Searched(Verification):
    """What the program left is searched several times, in one process after the other or by workers."""

    def __init__(self, request: Request, rounds: int) -> None:
        super().__init__(request, examine=False)
        self.rows: list[Took] = []
        self._rounds = rounds

    def _measure(self, job: Capture, scratch: Scratch | None) -> None:
        for workers in WORKERS * self._rounds:
            chosen = None if workers is None else parse_workers(workers, 600.0)
            run = Run(replace(self.request, workers=chosen), run_seconds=self.run_seconds)
            run.document.versions = self.document.versions
            begun, before = time.monotonic(), _cpu()
            if chosen is None:
                for target, result in measure(run, job, scratch, self._left):
                    run.report(result, target)
            else:
                with contextlib.closing(open_engine(chosen, lambda stream, data: None)) as engine:
                    Dispatch(run, job, scratch, self._left, engine).run()
            found = tuple((target, one["candidate"], one["status"]) for target, one in run.document.results)
            self.rows.append(Took(workers, time.monotonic() - begun, _cpu() - before, found))
            print(self.rows[-1], file=sys.stderr, flush=True)


def _cpu() -> float:
    """Seconds of CPU of the processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def table(rows: list[Took], load: float) -> str:
    """The figures as they stand on the page."""
    assert len({row.found for row in rows}) == 1, "the results differ"
    tried = sum(status != "not-applicable" for _, _, status in rows[0].found)
    lines = [
        f"{datetime.date.today().isoformat()}, {os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}, "
        f"jax {jax.__version__}, {len(TARGETS)} targets, {tried} candidates; {load:.0f} processes wanted the cores.",
        "",
        "| `--workers` | seconds | seconds of CPU |",
        "| --- | ---: | ---: |",
    ]
    lines += [f"| {row.workers or 'none'} | {row.seconds:.0f} | {row.cpu:.0f} |" for row in rows]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure, and print or write the page's figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", type=page_of_figures, help="the page whose figures are replaced")
    parser.add_argument("--rounds", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        program = Path(name) / "train.py"
        program.write_text(SOURCE, encoding="utf-8")
        request = Request("script", str(program), targets=TARGETS, transforms=("donation", "remat"))
        searched = _Searched(request, options.rounds)
        searched.run()
    figures = table(searched.rows, os.getloadavg()[2])
    if options.write is None:
        print(figures)
    else:
        put(options.write, figures, START)


if __name__ == "__main__":
    main()
