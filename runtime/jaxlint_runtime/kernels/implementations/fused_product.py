"""A tiled matrix product with an epilogue by Pallas: activation(x @ w + b), alone or times a second product x @ u +
c.

The products are summed over tiles of the depth in fast memory, where the epilogue is applied: only the result of a
gated unit is written. The backward pass only stores the operands, and recomputes the products to differentiate the
epilogue.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp

from jaxlint_runtime.deferred_imports import deferred
from jaxlint_runtime.kernels.epilogues import EpilogueSpec, Factors
from jaxlint_runtime.kernels.implementations.tiles import (
    LANES,
    PLAIN,
    SUBLANES,
    budget,
    dot,
    fitting,
    padded,
    parameters,
    shrunk,
)

pl = deferred("jax.experimental.pallas")
pltpu = deferred("jax.experimental.pallas.tpu")

_LARGEST = (512, 512, 1024)  # rows, columns and depth of a tile


@dataclass(frozen=True)
class _Static:
    spec: EpilogueSpec
    tile: tuple[int, int, int]
    chip: str | None


def compute(factors: Factors, spec: EpilogueSpec, chip: str | None = None) -> Any:
    """The epilogue of the products, [R, N], in the dtype of the rows."""
    count, depth = factors.rows.shape
    width = factors.tables[0].shape[1]
    static = _Static(spec, _tile(count, width, depth, len(factors.tables), factors.rows.dtype, chip), chip)
    bm, bn, bk = static.tile
    rows = padded(padded(factors.rows, 0, bm), 1, bk)
    tables = tuple(padded(padded(t.astype(rows.dtype), 0, bk), 1, bn) for t in factors.tables)
    shifts = tuple(
        padded(jnp.zeros((1, width)) if shift is None else shift.astype(jnp.float32)[None], 1, bn)
        for shift in factors.shifts
    )
    return _epilogue(rows, tables, shifts, static)[:count, :width]


def _tile(
    count: int, width: int, depth: int, tables: int, dtype: Any, chip: str | None
) -> tuple[int, int, int]:
    item = jnp.dtype(dtype).itemsize

    def need(sizes: Sequence[int]) -> int:
        bm, bn, bk = sizes
        read = item * (bm * bk + tables * bk * bn)
        return 2 * read + 4 * bm * bn * (3 * tables + 2)

    bm, bn, bk = shrunk(_LARGEST, (SUBLANES, LANES, LANES), need, budget(chip))
    return fitting(count, bm, SUBLANES), fitting(width, bn, LANES), fitting(depth, bk, LANES)


def _epilogue_of(spec: EpilogueSpec, products: Sequence[Any]) -> Any:
    first = spec.activation.compute(products[0])
    return first * products[1] if spec.gated else first


def _tiled(
    rows: Any,
    tables: Sequence[Any],
    shifts: Sequence[Any],
    extras: Sequence[Any],
    combine: Callable[[Sequence[Any], Sequence[Any]], Sequence[Any]],
    results: int,
    static: _Static,
) -> Sequence[Any]:
    """`combine` of all products and of `extras` [R, N], tile by tile: `results` arrays [R, N] in the dtype of the rows."""
    bm, bn, bk = static.tile
    count = len(tables)
    last = rows.shape[1] // bk - 1

    def kernel(*refs: Any) -> None:
        x_ref, rest = refs[0], list(refs[1:])
        w_refs, b_refs = rest[:count], rest[count : 2 * count]
        e_refs = rest[2 * count : 2 * count + len(extras)]
        o_refs, sums = rest[2 * count + len(extras) : -count], rest[-count:]
        k = pl.program_id(2)

        @pl.when(k == 0)
        def _() -> None:
            for total, b_ref in zip(sums, b_refs, strict=True):
                total[...] = jnp.broadcast_to(b_ref[...], total.shape)

        for total, w_ref in zip(sums, w_refs, strict=True):
            total[...] += dot(x_ref[...], w_ref[...], PLAIN)

        @pl.when(k == last)
        def _() -> None:
            given = [e_ref[...].astype(jnp.float32) for e_ref in e_refs]
            found = combine([total[...] for total in sums], given)
            for o_ref, array in zip(o_refs, found, strict=True):
                o_ref[...] = array.astype(o_ref.dtype)

    tile = pl.BlockSpec((bm, bn), lambda i, j, k: (i, j))
    shape = (rows.shape[0], tables[0].shape[1])
    return pl.pallas_call(
        kernel,
        grid=(shape[0] // bm, shape[1] // bn, last + 1),
        in_specs=[
            pl.BlockSpec((bm, bk), lambda i, j, k: (i, k)),
            *[pl.BlockSpec((bk, bn), lambda i, j, k: (k, j))] * count,
            *[pl.BlockSpec((1, bn), lambda i, j, k: (0, j))] * count,
            *[tile] * len(extras),
        ],
        out_specs=[tile] * results,
        out_shape=[jax.ShapeDtypeStruct(shape, rows.dtype)] * results,
        scratch_shapes=[pltpu.VMEM((bm, bn), jnp.float32)] * count,
        compiler_params=parameters(static.chip, "parallel", "parallel", "arbitrary"),
        name="matmul_epilogue" if not extras else "matmul_epilogue_backward",
    )(rows, *tables, *shifts, *extras)


@functools.partial(jax.custom_vjp, nondiff_argnums=(3,))
def _epilogue(rows: Any, tables: tuple[Any, ...], shifts: tuple[Any, ...], static: _Static) -> Any:
    def combine(products: Sequence[Any], _: Sequence[Any]) -> Sequence[Any]:
        return [_epilogue_of(static.spec, products)]

    return _tiled(rows, tables, shifts, (), combine, 1, static)[0]


def _forward(rows: Any, tables: tuple[Any, ...], shifts: tuple[Any, ...], static: _Static) -> Any:
    return _epilogue(rows, tables, shifts, static), (rows, tables, shifts)


def _backward(static: _Static, residuals: Any, cotangent: Any) -> Any:
    rows, tables, shifts = residuals

    def combine(products: Sequence[Any], extras: Sequence[Any]) -> Sequence[Any]:
        _, pull = jax.vjp(lambda *given: _epilogue_of(static.spec, given), *products)
        return list(pull(extras[0]))

    found = _tiled(rows, tables, shifts, (cotangent,), combine, len(tables), static)
    d_rows = sum(
        jax.lax.dot_general(d, table, (((1,), (1,)), ((), ())), preferred_element_type=jnp.float32)
        for d, table in zip(found, tables, strict=True)
    )
    d_tables = tuple(
        jax.lax.dot_general(rows, d, (((0,), (0,)), ((), ())), preferred_element_type=jnp.float32)
        for d in found
    )
    d_shifts = tuple(jnp.sum(d.astype(jnp.float32), axis=0, keepdims=True) for d in found)
    return (
        jnp.asarray(d_rows).astype(rows.dtype),
        tuple(d.astype(table.dtype) for d, table in zip(d_tables, tables, strict=True)),
        d_shifts,
    )


_epilogue.defvjp(_forward, _backward)
