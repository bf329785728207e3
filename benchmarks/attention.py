"""Attention by everything that `verify` may put in its place: memory, and time where there is a device.

    python -m benchmarks.attention [--target gpu:h100x1] [--shape 4 8 4096 128] [--dtype bfloat16] [--causal] [--output FILE.md]

For a target that is not there its compiler says what each needs, arguments and results included, and nothing is run. On a device at hand (`--target gpu`) each
is timed as well, with the block sizes that are fastest there, and its products are set against the published peak of the chip (three times those of the
forward pass for a gradient). Needs the extra of the target; `triton` and tokamax add a kernel each.
"""

from __future__ import annotations

import argparse
import functools
import os
import platform
import sys
from collections.abc import Callable, Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxlint_runtime import targets
from jaxlint_runtime.inspection.device_peaks import published
from jaxlint_runtime.kernels.attention_operands import Layout, Operands, Spec
from jaxlint_runtime.kernels.implementations.attention_choices import Choice, choices
from jaxlint_runtime.kernels.implementations.block_size_tuning import Tuner
from jaxlint_runtime.kernels.substitute import matches
from jaxlint_runtime.proof.paired_timing import Subject, alone

_PACKAGES = ("jax", "jaxlib", "libtpu", "jax-cuda13-plugin", "jax-triton", "triton", "tokamax")
_SECONDS = 2.0  # of timing for one row
Function = Callable[..., Any]


def by_hand(causal: bool, scale: float) -> Function:
    """As people write it."""

    def attention(q: Any, k: Any, v: Any) -> Any:
        scores = jnp.einsum("bhqd,bhkd->bhqk", q, k) * scale
        if causal:
            scores = jnp.where(jnp.tril(jnp.ones(scores.shape[-2:], bool)), scores, -jnp.inf)
        return jnp.einsum("bhqk,bhkd->bhqd", jax.nn.softmax(scores, axis=-1), v)

    return attention


def gradient(attention: Function) -> Function:
    """By all of its arguments."""

    def total(*given: Any) -> Any:
        return attention(*given).astype(jnp.float32).sum()

    return jax.grad(total, argnums=(0, 1, 2))


def rows(target: targets.Target, given: list[Any], causal: bool) -> Iterator[list[str]]:
    """The cells of each row; what cannot be compiled or run says why."""
    spec = Spec(given[0].shape[3] ** -0.5, causal)
    written = by_hand(causal, spec.scale)
    (layout,) = matches(jax.make_jaxpr(written)(*given)).all_layouts()
    assert isinstance(layout, Layout)
    ways: list[tuple[str, Choice | None, str | None]] = [("as written", None, None)]
    for each in choices(target):
        needs = "needs the device" if each.needs_device and target.compile_only else None
        ways.append((each.name, each, each.missing or needs or each.refuses(layout)))
    tuner = Tuner()
    for name, choice, refused in ways:
        for kind, wrap, factor in (("forward", lambda run: run, 1), ("gradient", gradient, 3)):
            cells = [name, kind]
            if refused is None:
                make = functools.partial(_function, choice, written, spec, wrap)
                try:
                    blocks = None
                    if choice is not None and choice.sizes is not None and not target.compile_only:
                        blocks = tuner.best((name, kind), choice.sizes(layout), make, lambda: given).blocks
                    cells += figures(target, make(blocks), given, factor * products(given, causal))
                except Exception as error:
                    cells += [f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0][:80]}", ""]
            else:
                cells += [refused, ""]
            yield cells


def _function(
    choice: Choice | None, written: Function, spec: Spec, wrap: Callable[[Function], Function], blocks: Any
) -> Function:
    if choice is None:
        return wrap(written)
    sized = {} if blocks is None else {"blocks": blocks}
    return wrap(lambda q, k, v: choice.run(Operands(q, k, v), spec, **sized))


def products(given: list[Any], causal: bool) -> float:
    """FLOPs of the two products of the forward pass."""
    batch, heads, time, depth = given[0].shape
    return 4.0 * batch * heads * time * time * depth * (0.5 if causal else 1.0)


def figures(target: targets.Target, function: Function, given: list[Any], flops: float) -> list[str]:
    """Memory by the compiler, and milliseconds with the share of the chip's peak where it can be run."""
    compiled = jax.jit(function).lower(*given).compile()
    memory: Any = compiled.memory_analysis()
    size = memory.argument_size_in_bytes + memory.output_size_in_bytes + memory.temp_size_in_bytes
    if target.platform != "cpu":  # there the temporaries are left out
        size = memory.peak_memory_in_bytes or size
    cells = [f"{size / 2**20:.0f} MiB"]
    if target.compile_only:
        return [*cells, "-"]
    milliseconds = float(np.median(alone(Subject(lambda none: compiled(*given), lambda: None), _SECONDS)))
    chip = published(target)
    share = ""
    if chip is not None:
        share = f" ({flops / chip.flops_for(str(given[0].dtype)) / milliseconds * 1e3:.0%} of the peak)"
    return [*cells, f"{milliseconds:.3g} ms{share}"]


def operands(target: targets.Target, shape: list[int], dtype: str) -> list[Any]:
    """Arrays on the device, or shapes for a compiler."""
    if target.compile_only:
        sharding = jax.sharding.SingleDeviceSharding(target.devices()[0])
        return [jax.ShapeDtypeStruct(tuple(shape), dtype, sharding=sharding)] * 3
    keys = jax.random.split(jax.random.key(0), 3)
    return [jax.device_put(jax.random.normal(key, shape, dtype), target.devices()[0]) for key in keys]


def _versions() -> Iterator[str]:
    for name in _PACKAGES:
        try:
            yield f"{name} {version(name)}"
        except PackageNotFoundError:
            continue


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--target", default="gpu:h100x1")
    parser.add_argument("--shape", type=int, nargs=4, default=[4, 8, 4096, 128], metavar=("B", "N", "T", "D"))
    parser.add_argument("--dtype", default="bfloat16")
    parser.add_argument("--causal", action="store_true")
    parser.add_argument("--output", type=Path)
    arguments = parser.parse_args()
    target = targets.parse(arguments.target)
    if any(
        os.environ.get(name) != value for name, value in target.environment.items() if name != "XLA_FLAGS"
    ):
        # These count before jax looks for devices.
        os.execve(
            sys.executable,
            [sys.executable, "-m", "benchmarks.attention", *sys.argv[1:]],
            {**os.environ, **target.environment},
        )
    given = operands(target, arguments.shape, arguments.dtype)
    lines = ["| by | pass | memory | time |", "| --- | --- | ---: | ---: |"]
    for cells in rows(target, given, arguments.causal):
        lines.append(f"| {' | '.join(cells)} |")
        print(lines[-1], flush=True)
    causal = ", causal" if arguments.causal else ""
    device = "compiled for, nothing run" if target.compile_only else target.devices()[0].device_kind
    what = f"{arguments.dtype}[{','.join(map(str, arguments.shape))}]{causal} on {target.name} ({device})"
    lines += ["", f"{what}; {', '.join(_versions())}, Python {platform.python_version()}."]
    print(lines[-1])
    if arguments.output is not None:
        arguments.output.write_text("\n".join(lines) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
