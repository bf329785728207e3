"""The peak figures of a device: matrix products, memory bandwidth, memory. Published by its maker, or measured here.

Per chip. Published peaks of products are those without sparsity; NVIDIA's float32 is that of TF32, which XLA uses for
float32 products by default, and a TPU computes float32 products in bfloat16 by default.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from jaxlint_runtime.targets import Target

_GIB = 2**30
_TPU_DOCS = "https://cloud.google.com/tpu/docs/"
_H100 = "https://www.nvidia.com/en-us/data-center/h100/"
_H200 = "https://www.nvidia.com/en-us/data-center/h200/"
_A100 = "https://www.nvidia.com/en-us/data-center/a100/"


@dataclass(frozen=True, slots=True)
class Peaks:
    """FLOP/s by dtype of the operands, bytes/s of the main memory, and its bytes (None: unknown)."""

    name: str
    flops: dict[str, float]
    bandwidth: float
    memory: int | None
    kind: str  # "published" or "measured"
    source: str

    def flops_for(self, dtype: str | None) -> float:
        """The peak for products of `dtype`; if that is not in the table, the peak of the widest known type."""
        return self.flops.get(dtype or "", min(self.flops.values()))


def _tpu(name: str, page: str, tera: float, gigabytes: float, memory: int) -> Peaks:
    flops = {"bfloat16": tera * 1e12, "float32": tera * 1e12, "float16": tera * 1e12}
    return Peaks(name, flops, gigabytes * 1e9, memory * _GIB, "published", _TPU_DOCS + page)


def _gpu(name: str, half: float, single: float, gigabytes: float, memory: int, source: str) -> Peaks:
    flops = {"bfloat16": half * 1e12, "float16": half * 1e12, "float32": single * 1e12}
    return Peaks(name, flops, gigabytes * 1e9, memory, "published", source)


# By the chip in a target's name; memory of GPUs as in XLA's descriptions of the devices.
PUBLISHED = {
    "v4": _tpu("TPU v4", "v4", 275, 1228, 32),
    "v5e": _tpu("TPU v5e", "v5e", 197, 819, 16),
    "v5p": _tpu("TPU v5p", "v5p", 459, 2765, 95),
    "v6e": _tpu("TPU v6e", "v6e", 918, 1640, 32),
    "h100": _gpu("H100 SXM 80 GB", 989.4, 494.7, 3352, 84929347584, _H100),
    "h200": _gpu("H200 SXM 141 GB", 989.4, 494.7, 4800, 150754820096, _H200),
    "a100": _gpu("A100 SXM 40 GB", 312, 156, 1555, 42331013120, _A100),
    "a100-80gb": _gpu("A100 SXM 80 GB", 312, 156, 2039, 85100068864, _A100),
}
# Devices by their names in jax.
_KINDS = {
    "TPU v4": "v4",
    "TPU v5 lite": "v5e",
    "TPU v5": "v5p",
    "TPU v5p": "v5p",
    "TPU v6 lite": "v6e",
    "NVIDIA H100 80GB HBM3": "h100",
    "NVIDIA H200": "h200",
    "NVIDIA A100-SXM4-40GB": "a100",
    "NVIDIA A100-SXM4-80GB": "a100-80gb",
}


def peaks(target: Target) -> Peaks | None:
    """The published peaks of a target's chip, or those measured on the current device; None if neither is available."""
    known = published(target)
    return known if known or target.compile_only else measured(target.devices()[0])


def published(target: Target) -> Peaks | None:
    """The published figures of a target's chip; None if unknown."""
    if target.compile_only:
        return PUBLISHED.get(target.chip or "")
    return PUBLISHED.get(_KINDS.get(target.devices()[0].device_kind, ""))


def measured(device: Any, seconds: float = 0.4) -> Peaks:
    """The best of large float32 products and of passes over memory on one device, in about `seconds`."""
    import jax
    import jax.numpy as jnp

    size, length = (1024, 2**26) if device.platform == "cpu" else (8192, 2**28)
    with jax.default_device(device):
        product = jax.jit(lambda x: x @ x * 1e-3)
        # In place: fresh pages would cost more than the pass.
        passing = jax.jit(lambda x: x + 1.0, donate_argnums=0)
        flops = 2.0 * size**3 / _fastest(product, jnp.ones((size, size), jnp.float32), seconds / 2)
        moved = 8.0 * length / _fastest(passing, jnp.zeros((length,), jnp.float32), seconds / 2)
    source = (
        f"a {size} x {size} product and a pass over {4 * length // 2**20} MiB, the fastest of several runs"
    )
    return Peaks(str(device.device_kind), {"float32": flops}, moved, None, "measured", source)


def _fastest(function: Callable[[Any], Any], argument: Any, seconds: float) -> float:
    """The least seconds of a call; other load on the machine only makes it longer."""
    import jax

    argument = jax.block_until_ready(function(argument))
    best = float("inf")
    deadline = time.perf_counter() + seconds
    while time.perf_counter() < deadline or best == float("inf"):
        start = time.perf_counter()
        argument = jax.block_until_ready(function(argument))
        best = min(best, time.perf_counter() - start)
    return best
