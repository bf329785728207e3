"""How much slower a training step is while `jaxlint verify` watches it: python benchmarks/capture_overhead.py

Two loops over the same compiled step of about ten milliseconds, one through the proxy of `jax.jit` and a flagged function,
with every hook in place, one without, in ABBA order. Prints the median ratio of paired blocks with a bootstrap interval; the copies of the
inputs that the recorder makes fall into the watched blocks. Exits with 1 when the median is over `--limit`.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp

from jaxlint_runtime.capture.function_identity import Project
from jaxlint_runtime.capture.host_syncs import HostSyncs
from jaxlint_runtime.capture.recorder import Recorder
from jaxlint_runtime.capture.stop import Stopper
from jaxlint_runtime.capture.watched_functions import Watcher

FLAGGED = b"""def host_step(step, params, x, y):
    params, loss = step(params, x, y)
    float(loss)
    return params
"""


def train_step(
    params: dict[str, jax.Array], x: jax.Array, y: jax.Array
) -> tuple[dict[str, jax.Array], jax.Array]:
    """One step of gradient descent of a small network."""

    def loss(p: dict[str, jax.Array]) -> jax.Array:
        hidden = jnp.tanh(x @ p["w1"])
        return jnp.mean((jnp.tanh(hidden @ p["w2"]) @ p["w3"] - y) ** 2)

    value, grads = jax.value_and_grad(loss)(params)
    return jax.tree.map(lambda p, g: p - 0.01 * g, params, grads), value


def block(host_step: Any, step: Any, params: Any, x: Any, y: Any, steps: int) -> tuple[Any, float]:
    """Seconds of a loop that reads the loss at each step, as programs do."""
    start = time.perf_counter()
    for _ in range(steps):
        params = host_step(step, params, x, y)
    jax.block_until_ready(params)
    return params, time.perf_counter() - start


def function_of(code: Any) -> Callable[..., Any]:
    """The function that the flagged module defines."""
    namespace: dict[str, Any] = {}
    exec(code, namespace)
    return namespace["host_step"]


def interval(ratios: list[float], draws: int = 2000) -> tuple[float, float]:
    """95% bootstrap interval of the median."""
    generator = random.Random(0)
    medians = sorted(statistics.median(generator.choices(ratios, k=len(ratios))) for _ in range(draws))
    return medians[int(draws * 0.025)], medians[int(draws * 0.975)]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--blocks", type=int, default=30, help="ABBA blocks")
    parser.add_argument("--steps", type=int, default=5, help="steps in each of the four parts of a block")
    parser.add_argument("--width", type=int, default=320)
    parser.add_argument("--limit", type=float, default=1.05)
    args = parser.parse_args()

    width = args.width
    keys = jax.random.split(jax.random.key(0), 5)
    shapes = {"w1": (width, 2 * width), "w2": (2 * width, 2 * width), "w3": (2 * width, width)}
    params = {name: jax.random.normal(k, shapes[name]) * 0.05 for name, k in zip(shapes, keys, strict=False)}
    x, y = (jax.random.normal(k, (256, width)) for k in keys[3:])

    recorder = Recorder(Project([Path(__file__).parent]), Stopper(), None, 2**29)
    syncs = HostSyncs(
        recorder._project,
        counting=lambda: recorder.active and not recorder.busy(),
        stepping=lambda: recorder.first_call is not None,
    )
    plain = jax.jit(train_step)
    recorder.start()
    watched = recorder.wrap(plain, train_step, {}, sys._getframe())
    name = str(Path(__file__).resolve().with_name("flagged.py"))
    watcher = Watcher({name: [3]}, recorder.busy, active=True)
    plain_step, watched_step = (
        function_of(code) for code in (compile(FLAGGED, name, "exec"), watcher.compile(FLAGGED, name))
    )

    def run(watch: bool) -> float:
        nonlocal params
        if watch:
            syncs.install(jax)
        try:
            host_step, step = (watched_step, watched) if watch else (plain_step, plain)
            params, seconds = block(host_step, step, params, x, y, args.steps)
        finally:
            syncs.remove()
        return seconds / args.steps

    run(False), run(True)
    ratios: list[float] = []
    times: list[float] = []
    for _ in range(args.blocks):
        a, b, c, d = run(False), run(True), run(True), run(False)
        ratios += [b / a, c / d]
        times += [a, d]
    low, high = interval(ratios)
    (record,) = recorder.records.values()
    median = statistics.median(ratios)
    (flagged,) = watcher.records
    assert flagged.calls == record.calls
    assert flagged.arguments
    print(
        f"step {statistics.median(times) * 1e3:.2f} ms, {record.calls} watched calls, inputs last kept at call {record.call_number}"
    )
    print(
        f"watched / plain: {median:.4f} [{low:.4f}, {high:.4f}] (median of {len(ratios)} pairs, 95% interval)"
    )
    print(f"copies of the inputs: {record.copy_spent * 1e3:.1f} ms in all, the first one while compiling")
    if median > args.limit:
        sys.exit(f"over the limit of {args.limit}")


if __name__ == "__main__":
    main()
