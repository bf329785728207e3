"""The project's own flash attention for TPU, by Pallas: forward and backward, one block of scores at a time.

Beyond JAX's own kernel: a broadcast mask or bias is read in its small size; keys may have fewer heads than queries;
scores may be capped; lengths are padded to the blocks.

Shapes: queries [B, N, T, D], keys [B, K, S, D], values [B, K, S, E]. The grid goes over batch, heads, one kind of
block and, innermost, the blocks that are summed over; sums stay in scratch memory meanwhile.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp

from jaxlint_runtime.deferred_imports import deferred
from jaxlint_runtime.kernels.attention_operands import Operands, Spec
from jaxlint_runtime.kernels.implementations.plain_definitions import MASKED
from jaxlint_runtime.kernels.implementations.tiles import FIRST_AXES, LANE_AXES, LANES, PLAIN, dot, padded

pl = deferred("jax.experimental.pallas")
pltpu = deferred("jax.experimental.pallas.tpu")

_PADDING = MASKED * 1.3  # lower than any score, masked ones included


@dataclass(frozen=True)
class Blocks:
    """Rows of queries and of keys for one program of the grid."""

    queries: int = 512
    keys: int = 512


_BLOCKS = Blocks()
SIZES = (
    _BLOCKS,
    Blocks(256, 256),
    Blocks(256, 512),
    Blocks(512, 1024),
    Blocks(1024, 512),
    Blocks(1024, 1024),
)


def attention(operands: Operands, spec: Spec, blocks: Blocks = _BLOCKS) -> Any:
    """Attention [B, N, T, E] in the dtype of the values; a bias is treated as a constant by its derivative."""
    queries, keys, values = operands.queries, operands.keys, operands.values
    time, positions, width = queries.shape[2], keys.shape[2], values.shape[3]
    blocks = Blocks(_fitting(time, blocks.queries), _fitting(positions, blocks.keys))
    bias = _bias(operands, blocks)
    queries = padded(queries, 2, blocks.queries)
    keys, values = padded(keys, 2, blocks.keys), padded(values, 2, blocks.keys)
    queries, keys, values = (padded(array, 3, LANES) for array in (queries, keys, values))
    static = _Static(
        spec, blocks, positions if keys.shape[2] > positions else None, operands.mask is not None
    )
    return _flash(queries, keys, values, bias, static)[:, :, :time, :width]


@dataclass(frozen=True)
class _Static:
    spec: Spec
    blocks: Blocks
    positions: int | None  # how many keys are not padding, if some are
    masked: bool


def _fitting(length: int, block: int) -> int:
    """A block of up to `block` rows for a length: the whole length if that is short."""
    whole = math.ceil(length / LANES) * LANES
    while whole % block and block > LANES:
        block //= 2
    return min(block, whole)


def added(operands: Operands) -> Any:
    """Mask and bias as one float32 array that is added to the scores, its axes whole or of size 1; None for neither."""
    bias, mask = operands.bias, operands.mask
    if mask is not None:
        bias = jnp.where(mask, 0.0 if bias is None else bias, MASKED)
    return None if bias is None else bias.astype(jnp.float32)


def _bias(operands: Operands, blocks: Blocks) -> Any:
    """The addend of the scores, padded to the blocks."""
    bias = added(operands)
    if bias is None:
        return None
    bias = jax.lax.stop_gradient(bias)
    bias = padded(bias, 2, blocks.queries) if bias.shape[2] > 1 else bias
    return padded(bias, 3, blocks.keys) if bias.shape[3] > 1 else bias


@functools.partial(jax.custom_vjp, nondiff_argnums=(4,))
def _flash(queries: Any, keys: Any, values: Any, bias: Any, static: _Static) -> Any:
    return _forward(queries, keys, values, bias, static, False)[0]


def _flash_forward(queries: Any, keys: Any, values: Any, bias: Any, static: _Static) -> Any:
    result, kept_rows = _forward(queries, keys, values, bias, static, True)
    return result, (queries, keys, values, bias, result, kept_rows)


def _flash_backward(static: _Static, residuals: Any, cotangent: Any) -> Any:
    queries, keys, values, bias, result, kept_rows = residuals
    delta = jnp.sum(cotangent.astype(jnp.float32) * result.astype(jnp.float32), axis=3)
    rest = (cotangent, kept_rows, delta[:, :, None])
    d_queries = _backward_queries(queries, keys, values, bias, rest, static)
    d_keys, d_values = _backward_keys(queries, keys, values, bias, rest, static)
    return d_queries, d_keys, d_values, None if bias is None else jnp.zeros_like(bias)


_flash.defvjp(_flash_forward, _flash_backward)


# ---- blocks of scores ----


def _scores(queries: Any, keys: Any, bias: Any, static: _Static, row: Any, column: Any) -> tuple[Any, Any]:
    """A block of scores in float32, and the derivative of the cap (1 without a cap)."""
    spec = static.spec
    scores = dot(queries, keys, LANE_AXES) * spec.scale
    slope = None
    if spec.cap is not None:
        capped = jnp.tanh(scores / spec.cap)
        scores, slope = spec.cap * capped, 1.0 - capped * capped
    if bias is not None:
        scores = scores + bias
    columns = jax.lax.broadcasted_iota(jnp.int32, scores.shape, 1) + column
    if spec.causal:
        rows = jax.lax.broadcasted_iota(jnp.int32, scores.shape, 0) + row
        scores = jnp.where(rows >= columns, scores, MASKED)
    if static.positions is not None:
        scores = jnp.where(columns < static.positions, scores, _PADDING)
    return scores, slope


def _visible(static: _Static, query_block: Any, key_block: Any) -> Any:
    """Whether a causal mask leaves anything of a block.

    If another mask may hide the rest of a row, all keys count equally, hidden ones included, and no block is skipped.
    """
    if not static.spec.causal or static.masked:
        return True
    return (query_block + 1) * static.blocks.queries > key_block * static.blocks.keys


# ---- specs of blocks ----


def _quotient(number: Any, by: int) -> Any:
    """For nonnegative numbers: the rounding of `//` would make the compiler query the device."""
    return number if by == 1 else jax.lax.div(number, jnp.int32(by))


def _remainder(number: Any, by: int) -> Any:
    return jax.lax.rem(number, jnp.int32(by))


def _spec(shape: tuple[int, ...], index: Callable[..., tuple[Any, ...]]) -> Any:
    return pl.BlockSpec(shape, index)


def _bias_spec(bias: Any, blocks: Blocks, index: Callable[..., tuple[Any, Any, Any, Any]]) -> Any:
    """Blocks of a bias; along an axis of size 1 always the first."""
    shape = (
        1,
        1,
        blocks.queries if bias.shape[2] > 1 else 1,
        blocks.keys if bias.shape[3] > 1 else 1,
    )
    varies = [size > 1 for size in bias.shape]

    def place(*grid: Any) -> tuple[Any, ...]:
        return tuple(n if whole else 0 for n, whole in zip(index(*grid), varies, strict=True))

    return _spec(shape, place)


def _parameters(*kinds: Any) -> Any:
    return pltpu.CompilerParams(dimension_semantics=kinds)


# ---- forward ----


def _forward(queries: Any, keys: Any, values: Any, bias: Any, static: _Static, keep: bool) -> tuple[Any, Any]:
    """The result and, if a derivative is needed (`keep`), the maximum and the inverse sum of each row, [B, N, 2, T]:
    combined into the logarithm of the sum, they would lose the sum in a fully masked row."""
    batch, heads, time, depth = queries.shape
    positions, width, groups = keys.shape[2], values.shape[3], heads // keys.shape[1]
    bq, bk = static.blocks.queries, static.blocks.keys
    last = positions // bk - 1

    def kernel(*refs: Any) -> None:
        q_ref, k_ref, v_ref, *rest = refs
        bias_ref = rest.pop(0) if bias is not None else None
        o_ref, *kept, total, top, accumulated = rest
        i, j = pl.program_id(2), pl.program_id(3)

        @pl.when(j == 0)
        def _() -> None:
            total[...] = jnp.zeros_like(total)
            top[...] = jnp.full_like(top, _PADDING)
            accumulated[...] = jnp.zeros_like(accumulated)

        @pl.when(_visible(static, i, j))
        def _() -> None:
            values = v_ref[0, 0]
            biased = None if bias_ref is None else bias_ref[0, 0]
            scores, _ = _scores(q_ref[0, 0], k_ref[0, 0], biased, static, i * bq, j * bk)
            before = top[...][:, :1]
            new = jnp.maximum(before, jnp.max(scores, axis=1, keepdims=True))
            raised = jnp.exp(scores - new)
            shrink = jnp.exp(before - new)
            total[...] = total[...] * shrink + jnp.sum(raised, axis=1, keepdims=True)
            top[...] = jnp.broadcast_to(new, top.shape)
            accumulated[...] = accumulated[...] * shrink + dot(raised.astype(values.dtype), values, PLAIN)

        @pl.when(j == last)
        def _() -> None:
            summed = total[...][:, :1]
            o_ref[0, 0] = (accumulated[...] / summed).astype(o_ref.dtype)
            for l_ref in kept:
                l_ref[0, 0] = jnp.concatenate([top[...].T[:1], 1.0 / total[...].T[:1]])

    specs = [
        _spec((1, 1, bq, depth), lambda b, n, i, j: (b, n, i, 0)),
        _spec((1, 1, bk, depth), lambda b, n, i, j: (b, _quotient(n, groups), j, 0)),
        _spec((1, 1, bk, width), lambda b, n, i, j: (b, _quotient(n, groups), j, 0)),
    ]
    given = [queries, keys, values]
    if bias is not None:
        specs.append(_bias_spec(bias, static.blocks, lambda b, n, i, j: (b, n, i, j)))
        given.append(bias)
    result, *kept_rows = pl.pallas_call(
        kernel,
        grid=(batch, heads, time // bq, positions // bk),
        in_specs=specs,
        out_specs=[
            _spec((1, 1, bq, width), lambda b, n, i, j: (b, n, i, 0)),
            *([_spec((1, 1, 2, bq), lambda b, n, i, j: (b, n, 0, i))] if keep else []),
        ],
        out_shape=[
            jax.ShapeDtypeStruct((batch, heads, time, width), values.dtype),
            *([jax.ShapeDtypeStruct((batch, heads, 2, time), jnp.float32)] if keep else []),
        ],
        scratch_shapes=[
            pltpu.VMEM((bq, LANES), jnp.float32),
            pltpu.VMEM((bq, LANES), jnp.float32),
            pltpu.VMEM((bq, width), jnp.float32),
        ],
        compiler_params=_parameters("parallel", "parallel", "parallel", "arbitrary"),
        name="flash_forward",
    )(*given)
    return result, kept_rows[0] if keep else None


# ---- backward ----


def _gradient_of_scores(refs: Any, bias: Any, static: _Static, row: Any, column: Any) -> tuple[Any, Any]:
    """Weights of a block and the gradient of its products, both in float32 [queries, keys]."""
    q_ref, k_ref, v_ref, c_ref, l_ref, d_ref = refs
    biased = None if bias is None else bias[0, 0]
    scores, slope = _scores(q_ref[0, 0], k_ref[0, 0], biased, static, row, column)
    weights = jnp.exp(scores - _column(l_ref[0, 0, :1])) * _column(l_ref[0, 0, 1:])
    d_weights = dot(c_ref[0, 0], v_ref[0, 0], LANE_AXES)
    d_scores = weights * (d_weights - _column(d_ref[0, 0]))
    if slope is not None:
        d_scores = d_scores * slope
    # A masked score is a constant: no gradient flows through it, not even in a fully masked row.
    return weights, jnp.where(scores > MASKED / 2, d_scores * static.spec.scale, 0.0)


def _column(row: Any) -> Any:
    """A row of numbers, one per query, as a column: they are stored as a row, which needs no padding."""
    return jnp.broadcast_to(row, (LANES, row.shape[1])).T[:, :1]


def _backward_queries(queries: Any, keys: Any, values: Any, bias: Any, rest: Any, static: _Static) -> Any:
    batch, heads, time, depth = queries.shape
    positions, width, groups = keys.shape[2], values.shape[3], heads // keys.shape[1]
    bq, bk = static.blocks.queries, static.blocks.keys
    last = positions // bk - 1
    cotangent, kept_rows, delta = rest

    def kernel(*refs: Any) -> None:
        ours, others = refs[:6], list(refs[6:])
        bias_ref = others.pop(0) if bias is not None else None
        o_ref, summed = others
        i, j = pl.program_id(2), pl.program_id(3)

        @pl.when(j == 0)
        def _() -> None:
            summed[...] = jnp.zeros_like(summed)

        @pl.when(_visible(static, i, j))
        def _() -> None:
            _, d_scores = _gradient_of_scores(ours, bias_ref, static, i * bq, j * bk)
            block = ours[1][0, 0]
            summed[...] += dot(d_scores.astype(block.dtype), block, PLAIN)

        @pl.when(j == last)
        def _() -> None:
            o_ref[0, 0] = summed[...].astype(o_ref.dtype)

    def rows(size: int) -> Any:
        return _spec((1, 1, bq, size), lambda b, n, i, j: (b, n, i, 0))

    def columns(size: int) -> Any:
        return _spec((1, 1, bk, size), lambda b, n, i, j: (b, _quotient(n, groups), j, 0))

    def numbers(count: int) -> Any:
        return _spec((1, 1, count, bq), lambda b, n, i, j: (b, n, 0, i))

    specs = [rows(depth), columns(depth), columns(width), rows(width), numbers(2), numbers(1)]
    given = [queries, keys, values, cotangent, kept_rows, delta]
    if bias is not None:
        specs.append(_bias_spec(bias, static.blocks, lambda b, n, i, j: (b, n, i, j)))
        given.append(bias)
    return pl.pallas_call(
        kernel,
        grid=(batch, heads, time // bq, positions // bk),
        in_specs=specs,
        out_specs=rows(depth),
        out_shape=jax.ShapeDtypeStruct(queries.shape, queries.dtype),
        scratch_shapes=[pltpu.VMEM((bq, depth), jnp.float32)],
        compiler_params=_parameters("parallel", "parallel", "parallel", "arbitrary"),
        name="flash_backward_queries",
    )(*given)


def _backward_keys(
    queries: Any, keys: Any, values: Any, bias: Any, rest: Any, static: _Static
) -> tuple[Any, Any]:
    batch, heads, time, depth = queries.shape
    own_heads, positions, width = keys.shape[1], keys.shape[2], values.shape[3]
    groups = heads // own_heads
    bq, bk = static.blocks.queries, static.blocks.keys
    turns = groups * (time // bq)  # blocks of queries, over all heads that share the keys
    cotangent, kept_rows, delta = rest

    def head_and_block(n: Any, t: Any) -> tuple[Any, Any]:
        return n * groups + _quotient(t, time // bq), _remainder(t, time // bq)

    def kernel(*refs: Any) -> None:
        ours, others = refs[:6], list(refs[6:])
        bias_ref = others.pop(0) if bias is not None else None
        k_out, v_out, k_sum, v_sum = others
        j, t = pl.program_id(2), pl.program_id(3)
        i = _remainder(t, time // bq)

        @pl.when(t == 0)
        def _() -> None:
            k_sum[...] = jnp.zeros_like(k_sum)
            v_sum[...] = jnp.zeros_like(v_sum)

        @pl.when(_visible(static, i, j))
        def _() -> None:
            weights, d_scores = _gradient_of_scores(ours, bias_ref, static, i * bq, j * bk)
            block, cotangents = ours[0][0, 0], ours[3][0, 0]
            k_sum[...] += dot(d_scores.astype(block.dtype), block, FIRST_AXES)
            v_sum[...] += dot(weights.astype(cotangents.dtype), cotangents, FIRST_AXES)

        @pl.when(t == turns - 1)
        def _() -> None:
            k_out[0, 0] = k_sum[...].astype(k_out.dtype)
            v_out[0, 0] = v_sum[...].astype(v_out.dtype)

    def rows(size: int) -> Any:
        def place(b: Any, n: Any, j: Any, t: Any) -> tuple[Any, ...]:
            head, i = head_and_block(n, t)
            return b, head, i, 0

        return _spec((1, 1, bq, size), place)

    def columns(size: int) -> Any:
        return _spec((1, 1, bk, size), lambda b, n, j, t: (b, n, j, 0))

    def along_rows(b: Any, n: Any, j: Any, t: Any) -> tuple[Any, ...]:
        head, i = head_and_block(n, t)
        return b, head, 0, i

    def numbers(count: int) -> Any:
        return _spec((1, 1, count, bq), along_rows)

    specs = [rows(depth), columns(depth), columns(width), rows(width), numbers(2), numbers(1)]
    given = [queries, keys, values, cotangent, kept_rows, delta]
    if bias is not None:

        def place(b: Any, n: Any, j: Any, t: Any) -> tuple[Any, Any, Any, Any]:
            head, i = head_and_block(n, t)
            return b, head, i, j

        specs.append(_bias_spec(bias, static.blocks, place))
        given.append(bias)
    return pl.pallas_call(
        kernel,
        grid=(batch, own_heads, positions // bk, turns),
        in_specs=specs,
        out_specs=[columns(depth), columns(width)],
        out_shape=[
            jax.ShapeDtypeStruct(keys.shape, keys.dtype),
            jax.ShapeDtypeStruct(values.shape, values.dtype),
        ],
        scratch_shapes=[pltpu.VMEM((bk, depth), jnp.float32), pltpu.VMEM((bk, width), jnp.float32)],
        compiler_params=_parameters("parallel", "parallel", "parallel", "arbitrary"),
        name="flash_backward_keys",
    )(*given)
