"""A warm process in which `check` and `fix` run on one case after the other: `python -m benchmarks.robustness.worker`.

One JSON line in, {folder, options, number}; one out, {failures, counts, peak_mb, seconds, longest}. {folder, call} is one command, and its
answer. What takes too long ends the
process with a trace on stderr, as what needs too much memory does; `pool` starts another.
"""

from __future__ import annotations

import contextlib
import dataclasses
import faulthandler
import gc
import json
import os
import resource
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.robustness.properties import call, judge

SECONDS = 20.0  # of processor time for one command on one case
MEGABYTES = 1000.0
_VIRTUAL = (
    3 * 2**30
)  # the analysis keeps half a GiB of address space for its stack, and takes it as it is needed
_CANARY_EVERY = 20
_CANARY = """import jax, jax.numpy as jnp, numpy as np

@jax.jit
def step(x, key):
    if x.sum() > 0:
        x = np.sin(x)
    x[0] = 1
    a = jax.random.normal(key, x.shape)
    return float(a[0]), jax.random.uniform(key)

def helper(carry, v):
    while carry > 3:
        carry = carry - v
    return carry, v

def run(xs):
    for _ in range(3):
        print(jax.jit(step)(xs, jax.random.key(0)))
    return jax.lax.scan(helper, 0.0, xs)
"""


class Worker:
    """Serves cases until its input ends."""

    def __init__(self) -> None:
        self.longest = 0.0
        self.seconds = SECONDS
        self.canary_folder = tempfile.mkdtemp(prefix="canary-", dir=os.environ.get("TMPDIR"))
        Path(self.canary_folder, "canary.py").write_text(_CANARY)
        self.canary = self._sing()
        gc.collect()
        gc.freeze()  # the rules and the tables live as long as the process

    @contextlib.contextmanager
    def limited(self) -> Iterator[None]:
        """A command's time. The signal ends the process, after a trace of all threads."""
        started = time.process_time()
        signal.setitimer(signal.ITIMER_PROF, self.seconds)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            self.longest = max(self.longest, time.process_time() - started)

    def serve(self, request: dict[str, Any]) -> dict[str, Any]:
        """One case."""
        _forget_peak()
        self.longest, self.seconds = 0.0, request["seconds"]
        started = time.process_time()
        os.chdir(request["folder"])
        try:
            found = judge(request["options"], self.limited, request["number"])
        finally:
            os.chdir("/")
        peak = _peak_mb()
        if peak > MEGABYTES:
            found.fail("memory", f"{peak:.0f} MB")
        if request["number"] % _CANARY_EVERY == 0 and self._sing() != self.canary:
            found.fail("left state", "the findings of another file are not what they were before these cases")
        gc.collect()
        return {
            "failures": found.failures,
            "counts": found.counts,
            "peak_mb": peak,
            "seconds": time.process_time() - started,
            "longest": self.longest,
            "resident_mb": _status("VmRSS") / 1e6,
        }

    def run(self, request: dict[str, Any]) -> dict[str, Any]:
        """One command, without a judgement."""
        os.chdir(request["folder"])
        try:
            with self.limited():
                answer = call(request["call"])
        finally:
            os.chdir("/")
        return dataclasses.asdict(answer)

    def _sing(self) -> str:
        os.chdir(self.canary_folder)
        try:
            return call(["check", "--no-cache", "--output-format", "json", "."]).out
        finally:
            os.chdir("/")


def _forget_peak() -> None:
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def _peak_mb() -> float:
    return _status("VmHWM") / 1e6 or resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def _status(name: str) -> float:
    """A figure of this process in bytes; 0 where the system does not tell."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith(name + ":"):
                return float(line.split()[1]) * 1024
    return 0.0


def main() -> None:
    """Answer requests from stdin on what was stdout; the commands' own output goes elsewhere."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_AS, (_VIRTUAL, _VIRTUAL))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    faulthandler.enable(2, all_threads=False)
    faulthandler.register(signal.SIGPROF, file=2, all_threads=True, chain=True)
    worker = Worker()
    print("ready", file=answers, flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        answer = worker.run(request) if "call" in request else worker.serve(request)
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
