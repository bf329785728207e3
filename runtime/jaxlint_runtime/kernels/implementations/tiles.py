"""The common part of the Pallas kernels: tiles that fit a target's fast memory, padding to them, products of tiles."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from jaxlint_runtime.deferred_imports import deferred

pltpu = deferred("jax.experimental.pallas.tpu")

LANES = 128
SUBLANES = 16  # of 16-bit tiles; those of 32 bits are half as high
LANE_AXES = (((1,), (1,)), ((), ()))  # a @ b.T
FIRST_AXES = (((0,), (0,)), ((), ()))  # a.T @ b
PLAIN = (((1,), (0,)), ((), ()))
LOWEST = float(jnp.finfo(jnp.float32).min)

_MIB = 2**20
# The share of a core's vector memory (16 MiB on v4, 128 on v5e and v6e, 64 on v5p) for tiles, each counted twice
# because the next one is fetched during the work on one. More helps little: the tiles below are large enough to keep
# a core busy.
_BUDGETS = {"v4": 10 * _MIB, "v5e": 32 * _MIB, "v5p": 32 * _MIB, "v6e": 48 * _MIB}
_LIMITS = {"v4": 15 * _MIB, "v5e": 96 * _MIB, "v5p": 56 * _MIB, "v6e": 96 * _MIB}
_UNKNOWN = "v4"  # the smallest memory of all


def budget(chip: str | None) -> int:
    """Bytes of fast memory for a kernel's tiles on a chip ("v5e"); the least of all if the chip is unknown."""
    return _BUDGETS.get(chip or _UNKNOWN, _BUDGETS[_UNKNOWN])


def chip_at_hand() -> str | None:
    """The chip of the default device, in the targets' names; None if it is not a TPU."""
    kind = jax.devices()[0].device_kind.lower()
    names = {
        "v4": "v4",
        "v5 lite": "v5e",
        "v5e": "v5e",
        "v5p": "v5p",
        "v5": "v5p",
        "v6 lite": "v6e",
        "v6e": "v6e",
    }
    return next((name for text, name in names.items() if text in kind), None)


def parameters(chip: str | None, *kinds: Any) -> Any:
    """The execution order of the grid axes ("parallel", "arbitrary"), and the kernel's memory limit."""
    limit = _LIMITS.get(chip or _UNKNOWN, _LIMITS[_UNKNOWN])
    return pltpu.CompilerParams(dimension_semantics=kinds, vmem_limit_bytes=limit)


def up(length: int, multiple: int) -> int:
    """The next multiple."""
    return math.ceil(length / multiple) * multiple


def fitting(length: int, most: int, multiple: int) -> int:
    """A tile of up to `most` for a length, in steps of `multiple`: the whole length if it is short, otherwise a tile
    that leaves little of the last one empty."""
    most = max(multiple, most // multiple * multiple)
    whole = up(length, multiple)
    if whole <= most:
        return whole
    count = math.ceil(whole / most)
    return up(math.ceil(whole / count), multiple)


def shrunk(
    sizes: Sequence[int], least: Sequence[int], need: Callable[[Sequence[int]], int], room: int
) -> list[int]:
    """Tile sizes halved, the largest first, until their `need` fits in `room` bytes or all are minimal."""
    found = list(sizes)
    while need(found) > room:
        larger = [n for n, size in enumerate(found) if size // 2 >= least[n]]
        if not larger:
            break
        n = max(larger, key=lambda n: found[n])
        found[n] //= 2
    return found


def padded(array: Any, axis: int, multiple: int, value: float = 0.0) -> Any:
    """The array with an axis padded to a multiple."""
    missing = -array.shape[axis] % multiple
    widths = [(0, missing if n == axis else 0) for n in range(array.ndim)]
    return jnp.pad(array, widths, constant_values=value) if missing else array


def dot(a: Any, b: Any, axes: Any) -> Any:
    """A product of two tiles, summed in float32."""
    precision = jax.lax.Precision.HIGHEST if a.dtype == jnp.float32 else None
    return jax.lax.dot_general(a, b, axes, preferred_element_type=jnp.float32, precision=precision)


def real_columns(shape: tuple[int, int], first: Any, width: int) -> Any:
    """The elements of a tile that are not padding; its first column has number `first`."""
    return jax.lax.broadcasted_iota(jnp.int32, shape, 1) + first < width
