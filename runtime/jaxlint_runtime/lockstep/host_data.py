"""Runs in one of several processes: records digests of the data that it puts into arrays that span processes,
for comparison with the others.

JAX compares nothing. If processes read the same rows, each batch is used twice; if copies differ, later
programs compute different results. The documentation of `jax.make_array_from_process_local_data` states its
requirements.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import sys
from collections.abc import Callable
from types import FrameType, ModuleType
from typing import Any

import numpy as np

from jaxlint_runtime.protocol.launch_records import Leaf, Shard

MAKERS = (
    "make_array_from_process_local_data",
    "make_array_from_callback",
    "make_array_from_single_device_arrays",
)
MULTIHOST = "jax.experimental.multihost_utils"
_PLACED = "host_local_array_to_global_array"
_MOST_SHARDS = 8  # of one array, in this process
_MOST_LEAVES = 32
_READ = 2**22  # bytes of a shard; of a larger one, blocks from all of it
_BLOCK = 2**12
_TREES = ("jax._src.tree_util", "jax.tree_util")
_Place = tuple[tuple[int, int], ...]
_Told = Callable[[tuple[Leaf, ...]], None]
Made = Callable[[FrameType | None], _Told | None]


def on_jax(jax: ModuleType, made: Made) -> None:
    """Hooks the functions of `jax` that create such arrays.

    `made` receives the caller's frame. It returns a function for the leaves, or None if they are not needed.
    """
    for name in MAKERS:
        _watch(jax, name, made)


def on_multihost(module: ModuleType, made: Made) -> None:
    """Hooks the function of `jax.experimental.multihost_utils` that does the same."""
    _watch(module, _PLACED, made)


def _watch(module: ModuleType, name: str, made: Made) -> None:
    function = getattr(module, name, None)
    if function is None:
        return

    @functools.wraps(function)
    def watched(*args: Any, **kwargs: Any) -> Any:
        result = function(*args, **kwargs)
        with contextlib.suppress(Exception):  # leaves that cannot be read are not compared
            if _spans(result) and (tell := made(_caller(sys._getframe(1)))) is not None:
                tell(leaves_of(result))
        return result

    setattr(module, name, watched)


def _caller(frame: FrameType | None) -> FrameType | None:
    """The frame that made a call, perhaps once for each leaf of a tree."""
    while frame is not None and frame.f_globals.get("__name__") in _TREES:
        frame = frame.f_back
    return frame


def _spans(tree: Any) -> bool:
    import jax

    return any(
        isinstance(leaf, jax.Array)
        and not isinstance(leaf, jax.core.Tracer)
        and not leaf.is_fully_addressable
        for leaf in jax.tree.leaves(tree)
    )


def leaves_of(tree: Any) -> tuple[Leaf, ...]:
    """The arrays of a tree that span processes, each with the shards of this process."""
    import jax

    found = []
    for path, leaf in jax.tree_util.tree_leaves_with_path(tree)[:_MOST_LEAVES]:
        if isinstance(leaf, jax.Array) and not leaf.is_fully_addressable:
            parts = {_place(shard.index, leaf.shape): shard.data for shard in leaf.addressable_shards}
            shards = [_shard(place, parts[place]) for place in sorted(parts)[:_MOST_SHARDS]]  # by their start
            found.append(Leaf(jax.tree_util.keystr(path), tuple(shards)))
    return tuple(found)


def _shard(place: _Place, data: Any) -> Shard:
    import jax

    if jax.dtypes.issubdtype(data.dtype, jax.dtypes.prng_key):
        data = jax.random.key_data(data)
    array = np.ascontiguousarray(np.asarray(data))
    flat = array.reshape(-1).view(np.uint8)
    if flat.size > _READ:
        starts = np.linspace(0, flat.size - _BLOCK, _READ // _BLOCK).astype(np.int64)
        flat = np.concatenate([flat[start : start + _BLOCK] for start in starts])
    constant = bool(array.size < 2 or (array == array.reshape(-1)[0]).all())
    shown = ",".join(f"{start}:{stop}" for start, stop in place)
    return Shard(shown, hashlib.sha256(flat.tobytes()).hexdigest()[:16], constant)


def _place(index: tuple[slice, ...], shape: tuple[int, ...]) -> _Place:
    """The position of a shard in its array: start and stop along each axis."""
    return tuple(part.indices(size)[:2] for part, size in zip(index, shape, strict=True))
