"""Attention by blocks of queries, in plain JAX: it runs anywhere, and only one block of scores exists at a time.

Each block is a checkpoint, so the backward pass recomputes its scores instead of storing them.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import jax
import jax.numpy as jnp

from jaxlint_runtime.kernels.attention_operands import Operands, Spec
from jaxlint_runtime.kernels.implementations.plain_definitions import scores, softmax

_BLOCK_BYTES = 2 * 2**20  # of float32 scores
_LEAST_ROWS = 32
_LEAST_CAUSAL = 1024  # rows from which it pays to skip keys that a causal mask hides
_PARTS = 4


def attention(operands: Operands, spec: Spec, widen: bool = False) -> Any:
    """Attention of any size in memory linear in T. `widen`: multiply in float32, for machines without 16-bit products."""
    time, positions = operands.queries.shape[2], operands.keys.shape[2]
    # A row that another mask hides completely takes the mean of all values, including those hidden by causality.
    apart = spec.causal and operands.mask is None and time == positions
    if not apart or time < _LEAST_CAUSAL or time % _PARTS:
        return _rows(operands, spec, 0, widen)
    results = []
    for part in range(_PARTS):
        start, stop = part * time // _PARTS, (part + 1) * time // _PARTS
        seen = Operands(
            operands.queries[:, :, start:stop],
            operands.keys[:, :, :stop],
            operands.values[:, :, :stop],
            _cut(operands.mask, start, stop),
            _cut(operands.bias, start, stop),
        )
        results.append(_rows(seen, spec, start, widen))
    return jnp.concatenate(results, axis=2)


def _cut(array: Any, start: int, stop: int) -> Any:
    """The rows and columns of a mask or bias for a part of the queries."""
    if array is None:
        return None
    array = array[:, :, start:stop] if array.shape[2] > 1 else array
    return array[..., :stop] if array.shape[3] > 1 else array


def _rows(operands: Operands, spec: Spec, first_row: int, widen: bool) -> Any:
    batch, heads, time, depth = operands.queries.shape
    own_heads, positions, width = operands.keys.shape[1], operands.keys.shape[2], operands.values.shape[3]
    groups = heads // own_heads
    together = max(1, _BLOCK_BYTES // (4 * groups * time * positions))
    chunk = _divisor(batch * own_heads, together) if together > 1 else 1
    rows = time
    if chunk == 1:
        rows = max(_LEAST_ROWS, _BLOCK_BYTES // (4 * groups * positions))
    blocks = math.ceil(time / rows) if rows < time else 1
    rows = math.ceil(time / blocks)
    padded = blocks * rows
    chunks = batch * own_heads // chunk

    queries = operands.queries.reshape(batch * own_heads, groups, time, depth)
    queries = jnp.pad(queries, ((0, 0), (0, 0), (0, padded - time), (0, 0)))
    queries = queries.reshape(chunks, chunk, groups, blocks, rows, depth)
    queries = jnp.moveaxis(queries, 3, 1)  # [chunks, blocks, chunk, groups, rows, depth]
    keys = operands.keys.reshape(chunks, chunk, 1, positions, depth)
    values = operands.values.reshape(chunks, chunk, 1, positions, width)
    sizes = (batch, own_heads, groups, time, positions)
    mask, bias = (_five(array, sizes, padded) for array in (operands.mask, operands.bias))

    @functools.partial(jax.checkpoint, prevent_cse=False)
    def block(queries: Any, keys: Any, values: Any, mask: Any, bias: Any, row: Any) -> Any:
        if widen:
            queries, keys, values = (array.astype(jnp.float32) for array in (queries, keys, values))
        weights = softmax(scores(queries, keys, spec, mask, bias, first_row + row)).astype(values.dtype)
        return jnp.einsum("...ts,...se->...te", weights, values).astype(operands.values.dtype)

    def over_blocks(number: Any, queries: Any, keys: Any, values: Any) -> Any:
        own = [_chunk_of(array, number * chunk, chunk, own_heads) for array in (mask, bias)]

        def one(index: Any, queries: Any) -> Any:
            here = [_rows_of(array, index * rows, rows) for array in own]
            return block(queries, keys, values, *here, index * rows)

        if blocks == 1:
            return one(0, queries[0])[None]
        return jax.lax.map(lambda xs: one(*xs), (jnp.arange(blocks), queries))

    if chunks == 1:
        result = over_blocks(0, queries[0], keys[0], values[0])[None]
    else:
        result = jax.lax.map(lambda xs: over_blocks(*xs), (jnp.arange(chunks), queries, keys, values))
    result = jnp.moveaxis(result, 1, 3)  # [chunks, chunk, groups, blocks, rows, width]
    return result.reshape(batch, heads, padded, width)[:, :, :time]


def _five(array: Any, sizes: tuple[int, ...], padded: int) -> Any:
    """A bias or mask as [B, K, groups, T, S], each of full size or 1, with padded rows."""
    if array is None:
        return None
    _batch, heads, groups, time, _positions = sizes
    whole = array.shape[1] > 1
    array = array.reshape(array.shape[0], heads if whole else 1, groups if whole else 1, *array.shape[2:])
    if array.shape[3] > 1 and padded > time:
        array = jnp.pad(array, ((0, 0), (0, 0), (0, 0), (0, padded - time), (0, 0)))
    return array


def _chunk_of(array: Any, first: Any, chunk: int, heads: int) -> Any:
    """The part of a bias or mask for `chunk` pairs of batch element and head, from number `first` on: [chunk, groups,
    T, S]."""
    if array is None:
        return None
    pairs = first + jnp.arange(chunk)
    batch = pairs // heads if array.shape[0] > 1 else jnp.zeros_like(pairs)
    head = pairs % heads if array.shape[1] > 1 else jnp.zeros_like(pairs)
    if array.shape[0] == array.shape[1] == 1:
        return array[0]
    return array[batch, head]


def _rows_of(array: Any, first: Any, rows: int) -> Any:
    if array is None or array.shape[2] == 1 or array.shape[2] == rows:
        return array
    return jax.lax.dynamic_slice_in_dim(array, first, rows, axis=2)


def _divisor(number: int, most: int) -> int:
    """The largest divisor of `number` up to `most`."""
    return max(d for d in range(1, min(number, most) + 1) if number % d == 0)
