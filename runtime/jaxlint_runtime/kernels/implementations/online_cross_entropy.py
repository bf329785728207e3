"""Log-likelihoods of a large vocabulary by Pallas: the logits are computed tile by tile from the operands of their
product.

Neither the logits nor their softmax exist outside a tile, forward or backward. Maximum and sum of each row are
updated tile by tile. The backward pass stores the logarithm of the sums, and recomputes the logits once by rows and
once by columns.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp

from jaxlint_runtime.deferred_imports import deferred
from jaxlint_runtime.kernels.implementations.tiles import (
    FIRST_AXES,
    LANE_AXES,
    LANES,
    LOWEST,
    PLAIN,
    budget,
    dot,
    fitting,
    padded,
    parameters,
    real_columns,
    shrunk,
    up,
)
from jaxlint_runtime.kernels.likelihood_operands import Examples

pl = deferred("jax.experimental.pallas")
pltpu = deferred("jax.experimental.pallas.tpu")

_LARGEST = (512, 1024)  # rows and scores of a tile
_MASK = -1e30  # below any logit, and finite: a tile may be all padding


@dataclass(frozen=True)
class _Static:
    scale: float
    vocabulary: int  # logits that are not padding
    tile: tuple[int, int]
    chip: str | None


def log_likelihood(examples: Examples, scale: float, chip: str | None = None) -> Any:
    """log softmax(scale * rows @ table.T + bias) at the labels: [R] in float32. Rows and table may be of any length."""
    count, depth = examples.rows.shape
    vocabulary = examples.table.shape[0]
    common = jnp.result_type(examples.rows, examples.table)
    item = jnp.dtype(common).itemsize
    wide = up(depth, LANES)

    def need(sizes: Sequence[int]) -> int:
        br, bv = sizes
        return 2 * item * wide * (br + bv) + 4 * wide * max(br, bv) + 16 * br * bv

    br, bv = shrunk(_LARGEST, (LANES, LANES), need, budget(chip))
    tile = (fitting(count, br, LANES), fitting(vocabulary, bv, LANES))
    rows = padded(padded(examples.rows.astype(common), 0, tile[0]), 1, LANES)
    table = padded(padded(examples.table.astype(common), 0, tile[1]), 1, LANES)
    bias = jnp.zeros(vocabulary) if examples.bias is None else examples.bias.astype(jnp.float32)
    bias = padded(bias[None], 1, tile[1])
    labels = padded(examples.label.astype(jnp.int32)[None], 1, tile[0])
    return _likelihood(rows, table, bias, labels, _Static(scale, vocabulary, tile, chip))[0, :count]


def _column(row: Any) -> Any:
    """Numbers of a row, one per example, as a column: they are stored as a row, which needs no padding."""
    return jnp.broadcast_to(row, (LANES, row.shape[1])).T[:, :1]


def _scores(rows: Any, table: Any, bias: Any, static: _Static, first: Any) -> Any:
    scores = dot(rows, table, LANE_AXES) * static.scale + bias
    if static.vocabulary % static.tile[1]:
        scores = jnp.where(real_columns(scores.shape, first, static.vocabulary), scores, _MASK)
    return scores


def _at(labels: Any, shape: tuple[int, int], first: Any) -> Any:
    """Whether each column of a tile is the label of its row."""
    return jax.lax.broadcasted_iota(jnp.int32, shape, 1) + first == _column(labels)


def _forward_kernel(rows: Any, table: Any, bias: Any, labels: Any, static: _Static) -> tuple[Any, Any]:
    """The log-likelihoods, and the logarithms of the sums, each [1, R]."""
    br, bv = static.tile
    depth = rows.shape[1]
    last = table.shape[0] // bv - 1

    def kernel(
        x_ref: Any, t_ref: Any, b_ref: Any, l_ref: Any, o_ref: Any, s_ref: Any, top: Any, total: Any, at: Any
    ) -> None:
        j = pl.program_id(1)

        @pl.when(j == 0)
        def _() -> None:
            top[...] = jnp.full_like(top, LOWEST)
            total[...] = jnp.zeros_like(total)
            at[...] = jnp.zeros_like(at)

        scores = _scores(x_ref[...], t_ref[...], b_ref[...], static, j * bv)
        picked = jnp.where(_at(l_ref[...], scores.shape, j * bv), scores, 0.0)
        at[...] += jnp.sum(picked, axis=1, keepdims=True)
        before = top[...][:, :1]
        new = jnp.maximum(before, jnp.max(scores, axis=1, keepdims=True))
        raised = jnp.sum(jnp.exp(scores - new), axis=1, keepdims=True)
        total[...] = total[...] * jnp.exp(before - new) + raised
        top[...] = jnp.broadcast_to(new, top.shape)

        @pl.when(j == last)
        def _() -> None:
            sums = top[...] + jnp.log(total[...])
            s_ref[...] = sums.T[:1]
            o_ref[...] = (at[...] - sums).T[:1]

    across = pl.BlockSpec((1, br), lambda i, j: (0, i))
    found = pl.pallas_call(
        kernel,
        grid=(rows.shape[0] // br, last + 1),
        in_specs=[
            pl.BlockSpec((br, depth), lambda i, j: (i, 0)),
            pl.BlockSpec((bv, depth), lambda i, j: (j, 0)),
            pl.BlockSpec((1, bv), lambda i, j: (0, j)),
            across,
        ],
        out_specs=[across, across],
        out_shape=[jax.ShapeDtypeStruct((1, rows.shape[0]), jnp.float32)] * 2,
        scratch_shapes=[pltpu.VMEM((br, LANES), jnp.float32)] * 3,
        compiler_params=parameters(static.chip, "parallel", "arbitrary"),
        name="cross_entropy_forward",
    )(rows, table, bias, labels)
    return found[0], found[1]


@functools.partial(jax.custom_vjp, nondiff_argnums=(4,))
def _likelihood(rows: Any, table: Any, bias: Any, labels: Any, static: _Static) -> Any:
    return _forward_kernel(rows, table, bias, labels, static)[0]


def _forward(rows: Any, table: Any, bias: Any, labels: Any, static: _Static) -> Any:
    result, sums = _forward_kernel(rows, table, bias, labels, static)
    return result, (rows, table, bias, labels, sums)


def _gradient_of_scores(refs: Sequence[Any], static: _Static, first: Any) -> Any:
    """A tile of the gradient of the logits in float32."""
    x_ref, t_ref, b_ref, l_ref, s_ref, c_ref = refs
    scores = _scores(x_ref[...], t_ref[...], b_ref[...], static, first)
    weights = jnp.exp(scores - _column(s_ref[...]))
    marked = _at(l_ref[...], scores.shape, first)
    return (jnp.where(marked, 1.0, 0.0) - weights) * _column(c_ref[...])


def _backward(static: _Static, residuals: Any, cotangent: Any) -> Any:
    rows, table, bias, labels, sums = residuals
    br, bv = static.tile
    depth = rows.shape[1]
    across_rows, across_columns = rows.shape[0] // br, table.shape[0] // bv
    given = (rows, table, bias, labels, sums, cotangent)

    def specs(of_rows: int, of_columns: int) -> list[Any]:
        def at(axis: int) -> Any:
            return lambda *grid: (grid[axis], 0)

        def along(axis: int) -> Any:
            return lambda *grid: (0, grid[axis])

        return [
            pl.BlockSpec((br, depth), at(of_rows)),
            pl.BlockSpec((bv, depth), at(of_columns)),
            pl.BlockSpec((1, bv), along(of_columns)),
            *[pl.BlockSpec((1, br), along(of_rows))] * 3,
        ]

    def by_rows(*refs: Any) -> None:
        d_ref, total = refs[6:]
        j = pl.program_id(1)

        @pl.when(j == 0)
        def _() -> None:
            total[...] = jnp.zeros_like(total)

        block = refs[1][...]
        total[...] += dot(_gradient_of_scores(refs[:6], static, j * bv).astype(block.dtype), block, PLAIN)

        @pl.when(j == across_columns - 1)
        def _() -> None:
            d_ref[...] = (total[...] * static.scale).astype(d_ref.dtype)

    def by_columns(*refs: Any) -> None:
        d_ref, d_bias, total = refs[6:]
        j, i = pl.program_id(0), pl.program_id(1)

        @pl.when(i == 0)
        def _() -> None:
            total[...] = jnp.zeros_like(total)
            d_bias[...] = jnp.zeros_like(d_bias)

        block = refs[0][...]
        gradient = _gradient_of_scores(refs[:6], static, j * bv)
        d_bias[...] += jnp.sum(gradient, axis=0, keepdims=True)
        total[...] += dot(gradient.astype(block.dtype), block, FIRST_AXES)

        @pl.when(i == across_rows - 1)
        def _() -> None:
            d_ref[...] = (total[...] * static.scale).astype(d_ref.dtype)

    d_rows = pl.pallas_call(
        by_rows,
        grid=(across_rows, across_columns),
        in_specs=specs(0, 1),
        out_specs=pl.BlockSpec((br, depth), lambda i, j: (i, 0)),
        out_shape=jax.ShapeDtypeStruct(rows.shape, rows.dtype),
        scratch_shapes=[pltpu.VMEM((br, depth), jnp.float32)],
        compiler_params=parameters(static.chip, "parallel", "arbitrary"),
        name="cross_entropy_backward_rows",
    )(*given)
    d_table, d_bias = pl.pallas_call(
        by_columns,
        grid=(across_columns, across_rows),
        in_specs=specs(1, 0),
        out_specs=[
            pl.BlockSpec((bv, depth), lambda j, i: (j, 0)),
            pl.BlockSpec((1, bv), lambda j, i: (0, j)),
        ],
        out_shape=[
            jax.ShapeDtypeStruct(table.shape, table.dtype),
            jax.ShapeDtypeStruct(bias.shape, jnp.float32),
        ],
        scratch_shapes=[pltpu.VMEM((bv, depth), jnp.float32)],
        compiler_params=parameters(static.chip, "parallel", "arbitrary"),
        name="cross_entropy_backward_columns",
    )(*given)
    return d_rows, d_table, d_bias, None


_likelihood.defvjp(_forward, _backward)
