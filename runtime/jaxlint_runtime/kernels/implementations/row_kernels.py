"""Layer norm, RMS norm and softmax by Pallas, one tile of rows at a time; the backward pass stores one array.

A norm stores its input and recomputes mean and deviation; a softmax stores its result. Both work in float32 inside,
for any dtype outside. The softmax is online: a row may be longer than a tile, and maximum and sum are updated tile by
tile.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp

from jaxlint_runtime.deferred_imports import deferred
from jaxlint_runtime.kernels.implementations.tiles import (
    LANES,
    LOWEST,
    SUBLANES,
    budget,
    fitting,
    padded,
    parameters,
    real_columns,
    up,
)
from jaxlint_runtime.kernels.rowwise import LAYER_NORM, SOFTMAX, Rows, RowSpec

pl = deferred("jax.experimental.pallas")
pltpu = deferred("jax.experimental.pallas.tpu")

_MOST_ROWS = 512
_MOST_COLUMNS = 4096
_ARRAYS = 8  # float32 arrays of a tile's size that a kernel holds at once


@dataclass(frozen=True)
class _Static:
    kind: str
    eps: float
    width: int  # columns that are not padding
    tile: tuple[int, int]
    chip: str | None


def compute(rows: Rows, spec: RowSpec, chip: str | None = None) -> Any:
    """A norm or softmax of [R, D], in the dtype of the rows."""
    count, width = rows.rows.shape
    if spec.kind == SOFTMAX:
        columns = fitting(width, _MOST_COLUMNS, LANES)
    else:
        columns = up(width, LANES)
    most = max(SUBLANES, budget(chip) // (4 * columns * _ARRAYS))
    tile = (fitting(count, min(most, _MOST_ROWS), SUBLANES), columns)
    static = _Static(spec.kind, spec.eps, width, tile, chip)
    array = padded(padded(rows.rows, 0, tile[0]), 1, tile[1])
    if spec.kind == SOFTMAX:
        return _softmax(array, static)[:count, :width]
    scale = jnp.ones(width) if rows.scale is None else rows.scale.astype(jnp.float32)
    scale = scale + 1.0 if spec.plus_one else scale
    shift = jnp.zeros(width) if rows.shift is None else rows.shift.astype(jnp.float32)
    vectors = [padded(vector[None], 1, tile[1]) for vector in (scale, shift)]
    return _norm(array, *vectors, static)[:count, :width]


# ---- norms ----


def _normalised(array: Any, static: _Static) -> tuple[Any, Any]:
    """A normalised tile of rows, and its factor."""
    real = real_columns(array.shape, 0, static.width) if static.width < array.shape[1] else None
    if static.kind == LAYER_NORM:
        array = array - jnp.sum(array, axis=1, keepdims=True) / static.width
        array = array if real is None else jnp.where(real, array, 0.0)
    square = jnp.sum(array * array, axis=1, keepdims=True) / static.width + static.eps
    inverse = jnp.where(square > 0.0, jax.lax.rsqrt(square), 0.0)
    return array * inverse, inverse


@functools.partial(jax.custom_vjp, nondiff_argnums=(3,))
def _norm(array: Any, scale: Any, shift: Any, static: _Static) -> Any:
    rows, columns = static.tile

    def kernel(x_ref: Any, s_ref: Any, b_ref: Any, o_ref: Any) -> None:
        found, _ = _normalised(x_ref[...].astype(jnp.float32), static)
        o_ref[...] = (found * s_ref[...] + b_ref[...]).astype(o_ref.dtype)

    tile = pl.BlockSpec((rows, columns), lambda i: (i, 0))
    vector = pl.BlockSpec((1, columns), lambda i: (0, 0))
    return pl.pallas_call(
        kernel,
        grid=(array.shape[0] // rows,),
        in_specs=[tile, vector, vector],
        out_specs=tile,
        out_shape=jax.ShapeDtypeStruct(array.shape, array.dtype),
        compiler_params=parameters(static.chip, "parallel"),
        name="norm_forward",
    )(array, scale, shift)


def _norm_forward(array: Any, scale: Any, shift: Any, static: _Static) -> Any:
    return _norm(array, scale, shift, static), (array, scale)


def _norm_backward(static: _Static, residuals: Any, cotangent: Any) -> Any:
    array, scale = residuals
    rows, columns = static.tile

    def kernel(x_ref: Any, s_ref: Any, c_ref: Any, d_ref: Any, d_scale: Any, d_shift: Any) -> None:
        found, inverse = _normalised(x_ref[...].astype(jnp.float32), static)
        given = c_ref[...].astype(jnp.float32)

        @pl.when(pl.program_id(0) == 0)
        def _() -> None:
            d_scale[...] = jnp.zeros_like(d_scale)
            d_shift[...] = jnp.zeros_like(d_shift)

        d_scale[...] += jnp.sum(given * found, axis=0, keepdims=True)
        d_shift[...] += jnp.sum(given, axis=0, keepdims=True)
        scaled = given * s_ref[...]
        along = jnp.sum(scaled * found, axis=1, keepdims=True) / static.width
        result = scaled - found * along
        if static.kind == LAYER_NORM:
            result = result - jnp.sum(scaled, axis=1, keepdims=True) / static.width
        d_ref[...] = (result * inverse).astype(d_ref.dtype)

    tile = pl.BlockSpec((rows, columns), lambda i: (i, 0))
    vector = pl.BlockSpec((1, columns), lambda i: (0, 0))
    return pl.pallas_call(
        kernel,
        grid=(array.shape[0] // rows,),
        in_specs=[tile, vector, tile],
        out_specs=[tile, vector, vector],
        out_shape=[
            jax.ShapeDtypeStruct(array.shape, array.dtype),
            *[jax.ShapeDtypeStruct(scale.shape, jnp.float32)] * 2,
        ],
        compiler_params=parameters(static.chip, "arbitrary"),
        name="norm_backward",
    )(array, scale, cotangent)


_norm.defvjp(_norm_forward, _norm_backward)


# ---- softmax ----


@functools.partial(jax.custom_vjp, nondiff_argnums=(1,))
def _softmax(array: Any, static: _Static) -> Any:
    rows, columns = static.tile
    whole = static.width % columns == 0

    def kernel(x_ref: Any, o_ref: Any, top: Any, total: Any) -> None:
        writing, j = pl.program_id(1), pl.program_id(2)
        values = x_ref[...].astype(jnp.float32)
        if not whole:
            values = jnp.where(real_columns(values.shape, j * columns, static.width), values, -jnp.inf)

        @pl.when((writing == 0) & (j == 0))
        def _() -> None:
            top[...] = jnp.full_like(top, LOWEST)
            total[...] = jnp.zeros_like(total)

        @pl.when(writing == 0)
        def _() -> None:
            before = top[...][:, :1]
            new = jnp.maximum(before, jnp.max(values, axis=1, keepdims=True))
            raised = jnp.sum(jnp.exp(values - new), axis=1, keepdims=True)
            total[...] = total[...] * jnp.exp(before - new) + raised
            top[...] = jnp.broadcast_to(new, top.shape)

        @pl.when(writing == 1)
        def _() -> None:
            o_ref[...] = (jnp.exp(values - top[...][:, :1]) / total[...][:, :1]).astype(o_ref.dtype)

    return pl.pallas_call(
        kernel,
        grid=(array.shape[0] // rows, 2, array.shape[1] // columns),
        in_specs=[pl.BlockSpec((rows, columns), lambda i, writing, j: (i, j))],
        # The first tile of the result stays in place while sums are computed: it is written only afterwards.
        out_specs=pl.BlockSpec((rows, columns), lambda i, writing, j: (i, writing * j)),
        out_shape=jax.ShapeDtypeStruct(array.shape, array.dtype),
        scratch_shapes=[pltpu.VMEM((rows, LANES), jnp.float32)] * 2,
        compiler_params=parameters(static.chip, "parallel", "arbitrary", "arbitrary"),
        name="softmax_forward",
    )(array)


def _softmax_forward(array: Any, static: _Static) -> Any:
    result = _softmax(array, static)
    return result, result


def _softmax_backward(static: _Static, weights: Any, cotangent: Any) -> Any:
    rows, columns = static.tile

    def kernel(w_ref: Any, c_ref: Any, d_ref: Any, along: Any) -> None:
        writing, j = pl.program_id(1), pl.program_id(2)
        weights, given = w_ref[...].astype(jnp.float32), c_ref[...].astype(jnp.float32)

        @pl.when((writing == 0) & (j == 0))
        def _() -> None:
            along[...] = jnp.zeros_like(along)

        @pl.when(writing == 0)
        def _() -> None:
            along[...] += jnp.sum(weights * given, axis=1, keepdims=True)

        @pl.when(writing == 1)
        def _() -> None:
            d_ref[...] = (weights * (given - along[...][:, :1])).astype(d_ref.dtype)

    tile = pl.BlockSpec((rows, columns), lambda i, writing, j: (i, j))
    result = pl.pallas_call(
        kernel,
        grid=(weights.shape[0] // rows, 2, weights.shape[1] // columns),
        in_specs=[tile, tile],
        out_specs=pl.BlockSpec((rows, columns), lambda i, writing, j: (i, writing * j)),
        out_shape=jax.ShapeDtypeStruct(weights.shape, weights.dtype),
        scratch_shapes=[pltpu.VMEM((rows, LANES), jnp.float32)],
        compiler_params=parameters(static.chip, "parallel", "arbitrary", "arbitrary"),
        name="softmax_backward",
    )(weights, cotangent)
    return (result,)


_softmax.defvjp(_softmax_forward, _softmax_backward)
