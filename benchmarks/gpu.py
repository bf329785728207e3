"""What a GPU at hand shows: what each candidate of `verify` gains there, and what a compiler without the GPU plans for it.

    python -m benchmarks.gpu [--table candidates|plans] [--budget SECONDS] [--output FILE.md]

`candidates` runs `verify` on programs of `benchmarks/optimise/programs`, at sizes that keep a GPU busy. `plans` compiles five
functions on the GPU and for `gpu:h100x1`, which needs none, and compares the peaks of their memory.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from jaxlint_runtime.targets import parse

PROGRAMS = Path(__file__).parent / "optimise" / "programs"
# Each with the arguments that make it large.
CASES = {
    "attention": ("--steps", "6", "--batch-size", "8", "--length", "4096"),
    "cross_entropy": ("--steps", "6", "--tokens", "16384"),
}
_TRANSFORMS = ("donation", "remat", "bf16", "kernels", "cross_entropy")
_TARGETS = ("gpu", "gpu:h100x1")
_MIB = 2**20


def candidates(budget: float) -> Iterator[str]:
    """The lines of the table of candidates."""
    yield "| program | candidate | outcome | memory before | after | time before | after | times as fast |"
    yield "| --- | --- | --- | ---: | ---: | ---: | ---: | ---: |"
    for name in CASES:
        with tempfile.TemporaryDirectory() as folder:
            report = _report(name, Path(folder), budget)
        (run,) = report["runs"]
        yield from _rows(name, run["results"])
    yield ""
    yield f"{run['device']}; jax {run['versions']['jax']}, Python {platform.python_version()}; {'; '.join(f'{name} {chr(32).join(given)}' for name, given in CASES.items())}"


def _report(name: str, folder: Path, budget: float) -> Any:
    shutil.copy(PROGRAMS / name / "naive.py", folder / f"{name}.py")
    command = [str(Path(sys.executable).with_name("jaxlint")), "verify", "-q", "--budget", f"{budget:.0f}s"]
    for transform in _TRANSFORMS:
        command += ["--transform", transform]
    command += ["--output-format", "json", f"{name}.py", "--", *CASES[name]]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{name}: verify ended with {done.returncode}: {done.stderr.strip()[-800:]}")
    return json.loads(done.stdout)


def _rows(name: str, results: list[Any]) -> Iterator[str]:
    """One row for each candidate that was compiled."""
    for one in results:
        before, after = one["before"], one["after"]
        if before is None or after is None:
            if one["status"] != "not-applicable":
                yield f"| {name} | {one['candidate']} | {one['status']}: {one['reason'][:80]} | | | | | |"
            continue
        sizes = [f"{cost['peak_bytes'] / _MIB:,.0f} MiB" for cost in (before, after)]
        times = [
            "-" if cost["time_ms"] is None else f"{cost['time_ms']['median']:.3g} ms"
            for cost in (before, after)
        ]
        speedup = one["speedup"]
        gain = f"{speedup['median']:.2f} [{speedup['low']:.2f}, {speedup['high']:.2f}]" if speedup else "-"
        cells = [name, one["candidate"], one["status"], *sizes, *times, gain]
        yield f"| {' | '.join(cells)} |"


def plans() -> Iterator[str]:
    """The lines of the table of plans."""
    found = []
    for target in _TARGETS:
        environment = {**os.environ, **parse(target).environment}
        command = [sys.executable, "-m", "benchmarks.gpu", "--plan", target]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"{target}: {done.stderr.strip()[-800:]}")
        found.append(json.loads(done.stdout))
    here, planned = found
    yield "| function | the GPU's own plan | the plan of gpu:h100x1 | of the GPU's |"
    yield "| --- | ---: | ---: | ---: |"
    for name, size in here.items():
        yield f"| {name} | {size:,.0f} MiB | {planned[name]:,.0f} MiB | {planned[name] / size:.2f} |"


def plan(target_name: str) -> dict[str, float]:
    """The peak of memory of each function in MiB, as the compiler of the target plans it."""
    import jax

    target = parse(target_name)
    sharding = jax.sharding.SingleDeviceSharding(target.devices()[0])
    sizes = {}
    for name, (function, shapes) in _functions().items():
        given = jax.tree.map(
            lambda one: jax.ShapeDtypeStruct(one.shape, one.dtype, sharding=sharding), shapes
        )
        memory: Any = jax.jit(function).lower(*given).compile().memory_analysis()
        sizes[name] = memory.peak_memory_in_bytes / _MIB
    return sizes


def _functions() -> dict[str, tuple[Callable[..., Any], Any]]:
    """Functions of training, with the shapes that they are compiled for."""
    import jax
    import jax.numpy as jnp
    import optax

    def shape(*sizes: int, dtype: Any = jnp.float32) -> Any:
        return jax.ShapeDtypeStruct(sizes, dtype)

    def attention(q: Any, k: Any, v: Any) -> Any:
        scores = jnp.einsum("bqhd,bkhd->bhqk", q, k).astype(jnp.float32)
        return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores).astype(q.dtype), v)

    def attention_gradient(*given: Any) -> Any:
        return jax.grad(lambda *a: attention(*a).astype(jnp.float32).sum(), argnums=(0, 1, 2))(*given)

    optimizer = optax.adam(1e-3)

    def loss_of_mlp(params: Any, x: Any, y: Any) -> Any:
        for weights in params[:-1]:
            x = jax.nn.gelu(x @ weights)
        return jnp.mean((x @ params[-1] - y) ** 2)

    def step(params: Any, state: Any, x: Any, y: Any) -> Any:
        loss, grads = jax.value_and_grad(loss_of_mlp)(params, x, y)
        updates, state = optimizer.update(grads, state, params)
        return optax.apply_updates(params, updates), state, loss

    def cross_entropy(table: Any, hidden: Any, labels: Any) -> Any:
        losses = optax.softmax_cross_entropy_with_integer_labels(hidden @ table, labels)
        return losses.mean()

    def convolutions(kernels: Any, x: Any) -> Any:
        for kernel in kernels:
            x = jax.lax.conv_general_dilated(
                x, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
            )
            x = jax.nn.relu(x)
        return x.mean()

    qkv = (shape(4, 2048, 8, 64, dtype=jnp.bfloat16),) * 3
    params = [shape(1024, 4096), shape(4096, 4096), shape(4096, 1024)]
    rows = shape(8192, 1024)
    words = (shape(1024, 32768), shape(4096, 1024), shape(4096, dtype=jnp.int32))
    images = ([shape(3, 3, 64, 64)] * 4, shape(32, 64, 64, 64))
    return {
        "attention": (attention, qkv),
        "gradient of attention": (attention_gradient, qkv),
        "step of an MLP with Adam": (step, (params, jax.eval_shape(optimizer.init, params), rows, rows)),
        "gradient of cross-entropy": (jax.grad(cross_entropy), words),
        "gradient of convolutions": (jax.grad(convolutions), images),
    }


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--table", choices=["candidates", "plans"], help="only this one")
    parser.add_argument("--budget", type=float, default=180, help="seconds for verify on one program")
    parser.add_argument("--output", type=Path)
    parser.add_argument("--plan", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.plan is not None:
        print(json.dumps(plan(arguments.plan)))
        return 0
    lines = []
    for table in ("candidates", "plans"):
        if arguments.table not in (None, table):
            continue
        for line in candidates(arguments.budget) if table == "candidates" else plans():
            print(line, flush=True)
            lines.append(line)
        lines.append("")
    if arguments.output is not None:
        arguments.output.write_text("\n".join(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
