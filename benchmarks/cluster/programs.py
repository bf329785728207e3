"""One training program that goes wrong in many ways in one of its processes, and what has to be said of each."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass

SOURCE = textwrap.dedent(
    """
    import os
    import signal
    import sys
    import time

    import jax
    import numpy as np
    from jax.experimental import multihost_utils
    from jax.sharding import Mesh, NamedSharding
    from jax.sharding import PartitionSpec as P

    how = sys.argv[1]
    if how != "never":
        jax.distributed.initialize()
    me = jax.process_index()
    is_first = me == 0
    devices = jax.devices()[:: -1 if how == "mesh" and me == 1 else 1]
    split = NamedSharding(Mesh(np.array(devices), "d"), P("d"))


    def batch(size=8):
        return jax.make_array_from_callback((size,), split, lambda at: np.ones(size, np.float32)[at])


    def turns():
        return range(3 if how == "uneven" and me == 1 else 4)


    @jax.jit
    def step(x):
        return x / x.sum()


    @jax.jit
    def evaluate(x):
        return x.mean()


    def save(x):
        if jax.process_index() != 0:
            return
        print(multihost_utils.process_allgather(x, tiled=True))


    def main():
        x = batch()
        for turn in turns():
            x = step(x)
            if turn == 1:
                if how == "apart":
                    if me == 0:
                        print(evaluate(x))
                if how == "variable" and is_first:
                    print(evaluate(x))
                if how == "eager" and me == 0:
                    print(x.mean())
                if how == "returns":
                    save(x)
                if how == "barrier" and me == 1:
                    multihost_utils.sync_global_devices("saved")
            if turn == 2:
                if how == "shapes":
                    x = step(batch(8 if me == 0 else 4))
                if how == "constant":
                    x = jax.jit(lambda x: x * float(me))(x)
                if how == "crossed":
                    for function in (step, evaluate)[:: 1 if me == 0 else -1]:
                        function(x)
                if how == "killed" and me == 1:
                    os.kill(os.getpid(), signal.SIGKILL)
                if how == "aborts" and me == 1:
                    os.abort()
                if how == "exits" and me == 1:
                    os._exit(0)
                if how == "stalls" and me == 1:
                    time.sleep(1000)
                if how == "stopped" and me == 1:
                    os.kill(os.getpid(), signal.SIGSTOP)
                if how == "raises" and me == 1:
                    raise ValueError("no such batch")
                if how == "all raise":
                    raise ValueError("no batch at all")
        if how == "local" and me == 0:
            print(jax.numpy.ones(3).sum())
        if how == "measured":
            measure(x)


    def measure(x):
        count = int(sys.argv[2])
        for number in range(100 + count):
            if number == 100:
                start = time.perf_counter()
            x = step(x)
            if number % 10 == 9:  # more of them at once may starve the threads of two cores
                x.block_until_ready()
        if me == 0:
            print("microseconds", (time.perf_counter() - start) / count * 1e6, flush=True)


    main()
    """
).lstrip()


@dataclass(frozen=True, slots=True)
class Case:
    """A way to go wrong: the verdict, the process that it names, and a line that the report has to name, by what stands there."""

    how: str
    verdict: str
    process: int | None
    line: str
    what: str


CASES = (
    Case("local", "same", None, "x = step(x)", "one process computes on its own devices"),
    Case("apart", "diverged", 0, "if me == 0:", "a jitted function under `if me == 0`"),
    Case("variable", "diverged", 0, 'if how == "variable"', "the same, by a variable"),
    Case("eager", "diverged", 0, 'if how == "eager"', "an eager operation on a global array in one process"),
    Case("returns", "diverged", 1, "if jax.process_index() != 0:", "an early return before a gather"),
    Case("barrier", "diverged", 1, 'if how == "barrier"', "a barrier in one process"),
    Case("crossed", "diverged", 1, "function(x)", "two programs in crossed order"),
    Case("shapes", "diverged", 1, "x = step(batch(", "batches of different sizes"),
    Case("constant", "diverged", 1, "x * float(me)", "a constant that differs"),
    Case("mesh", "diverged", 1, "x = step(x)", "meshes of different order"),
    Case("uneven", "ended", 1, "for turn in turns()", "one process has fewer batches"),
    Case("exits", "ended", 1, 'if how == "exits"', "one process exits with 0"),
    Case("raises", "died", 1, 'raise ValueError("no such batch")', "one process raises"),
    Case("killed", "died", 1, "x = step(x)", "one process is killed"),
    Case("aborts", "died", 1, "x = step(x)", "one process aborts"),
    Case("stalls", "stalled", 1, "time.sleep(1000)", "one process sleeps"),
    Case("stopped", "stalled", 1, "x = step(x)", "one process is stopped"),
    Case("all raise", "unknown", None, 'raise ValueError("no batch at all")', "all processes raise alike"),
)


def line_of(text: str) -> int:
    """The first line of the program that holds a text."""
    return next(number for number, line in enumerate(SOURCE.splitlines(), 1) if text in line)
