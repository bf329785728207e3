"""What norms, softmaxes, gated units and products with epilogues need on a device that is only compiled for, and who needs less.

    python -m benchmarks.fused [--target tpu:v5e-1x1] [--output FILE.md]

Each is compiled as XLA fuses it, with `jax.checkpoint` around it ("recomputed"), and by the project's own Pallas kernels: forward, its gradient, and
the gradient of four layers in a scan. Rows 8192, width 2048, products 8192 wide, softmax over 16384, bfloat16 outside and float32 inside.
Needs the extra `tpu`.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from jaxlint_runtime import targets
from jaxlint_runtime.kernels.substitute import fused
from jaxlint_runtime.lowering.function_versions import JitOptions, Version
from jaxlint_runtime.transforms.attention_kernels import substituted
from jaxlint_runtime.transforms.fusions import chooser

ROWS, WIDTH, WIDE, CLASSES, LAYERS = 8192, 2048, 8192, 16384, 4
WAYS = ("xla", "recomputed", "pallas")


def layer_norm(x: Any, scale: Any, shift: Any) -> Any:
    wide = x.astype(jnp.float32)
    centred = wide - wide.mean(-1, keepdims=True)
    inverse = jax.lax.rsqrt(jnp.var(wide, -1, keepdims=True) + 1e-6)
    return (centred * inverse * scale + shift).astype(x.dtype)


def softmax(x: Any) -> Any:
    return jax.nn.softmax(x.astype(jnp.float32), -1).astype(x.dtype)


def gated(x: Any, gate: Any, up: Any) -> Any:
    return jax.nn.silu(x @ gate) * (x @ up)


def epilogue(x: Any, table: Any, shift: Any) -> Any:
    return jax.nn.gelu(x @ table + shift)


# kind, function, shapes of its arguments, width of its result
PROGRAMS: list[tuple[str, Callable[..., Any], list[tuple[int, ...]], int]] = [
    ("norms", layer_norm, [(ROWS, WIDTH), (WIDTH,), (WIDTH,)], WIDTH),
    ("softmaxes", softmax, [(ROWS, CLASSES)], CLASSES),
    ("gated units", gated, [(ROWS, WIDTH), (WIDTH, WIDE), (WIDTH, WIDE)], WIDE),
    ("epilogues", epilogue, [(ROWS, WIDTH), (WIDTH, WIDE), (WIDE,)], WIDE),
]


def versions(
    function: Callable[..., Any], shapes: list[tuple[int, ...]], width: int
) -> dict[str, tuple[Callable[..., Any], list[Any]]]:
    """Forward, gradient, and the gradient of a scan over layers; each with the shapes of its arguments."""

    def gradient(*given: Any) -> Any:
        return jax.grad(lambda *a: jnp.sum(function(*a).astype(jnp.float32) ** 2), tuple(range(len(given))))(
            *given
        )

    def layers(x: Any, stacked: Any) -> Any:
        def loss(x: Any, stacked: Any) -> Any:
            def layer(x: Any, given: Any) -> Any:
                return x + function(x, *given[:-1]) @ given[-1], None

            return jnp.sum(jax.lax.scan(layer, x, stacked)[0].astype(jnp.float32) ** 2)

        return jax.grad(loss, (0, 1))(x, stacked)

    found: dict[str, tuple[Callable[..., Any], list[Any]]] = {
        "forward": (function, list(shapes)),
        "gradient": (gradient, list(shapes)),
    }
    if len(shapes) > 1:
        stacked = [(LAYERS, *shape) for shape in (*shapes[1:], (width, shapes[0][1]))]
        found[f"gradient of {LAYERS} scanned layers"] = (layers, [shapes[0], stacked])
    return found


def peak(function: Callable[..., Any], shapes: list[Any], target: targets.Target) -> float:
    """MiB that the compiled function needs at most."""
    mesh = Mesh(np.array(target.devices()[:1]), ("x",))
    place = NamedSharding(mesh, PartitionSpec())

    def struct(shape: Any) -> Any:
        if isinstance(shape, list):
            return [struct(inner) for inner in shape]
        return jax.ShapeDtypeStruct(shape, jnp.bfloat16, sharding=place)

    compiled = jax.jit(function).lower(*[struct(shape) for shape in shapes]).compile()
    planned = compiled.memory_analysis()
    assert planned is not None, "the compiler of this target says nothing about memory"
    return float(planned.peak_memory_in_bytes) / 2**20


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--target", default="tpu:v5e-1x1")
    parser.add_argument("--output", type=Path)
    arguments = parser.parse_args()
    target = targets.parse(arguments.target)
    if "JAX_PLATFORMS" not in os.environ:  # these count before jax looks for devices
        os.execve(
            sys.executable,
            [sys.executable, "-m", "benchmarks.fused", *sys.argv[1:]],
            {**os.environ, **target.environment},
        )
    lines = [
        "| what | pass | as XLA fuses it | recomputed | Pallas | least |",
        "| --- | --- | ---: | ---: | ---: | --- |",
    ]
    for kind, function, shapes, width in PROGRAMS:
        for name, (original, given) in versions(function, shapes, width).items():
            sizes = []
            for way in WAYS:
                choose = chooser(kind, way, target.chip)
                run = original
                if way != "xla":
                    run = substituted(Version(original, JitOptions()), choose, None, fused).function
                sizes.append(peak(run, given, target))
            least = [way for way, size in zip(WAYS, sizes, strict=True) if size <= 1.01 * min(sizes)]
            lines.append(
                f"| {kind} | {name} | {' | '.join(f'{size:.0f} MiB' for size in sizes)} | {', '.join(least)} |"
            )
            print(lines[-1], flush=True)
    packages = ", ".join(f"{name} {version(name)}" for name in ("jax", "jaxlib", "libtpu"))
    lines += [
        "",
        f"Peak memory by the compiler of {target.name}, nothing run on it; {packages}, Python {platform.python_version()}.",
    ]
    if arguments.output is not None:
        arguments.output.write_text("\n".join(lines) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
