"""Norms, softmaxes and products with epilogues in plain JAX that only store their operands for the backward pass.

Autodiff would store the normalised rows, the deviations and the parts of an activation's derivative, often in
float32; these are recomputed. Products are stored, since recomputing them is expensive.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from jaxlint_runtime.kernels.epilogues import EpilogueSpec, Factors
from jaxlint_runtime.kernels.rowwise import LAYER_NORM, SOFTMAX, Rows, RowSpec


def row_wise(rows: Rows, spec: RowSpec) -> Any:
    """A norm or softmax of [R, D] that stores no intermediate results."""

    def run(array: Any, scale: Any, shift: Any) -> Any:
        array = array.astype(jnp.float32)
        if spec.kind == SOFTMAX:
            return jax.nn.softmax(array, axis=1).astype(rows.rows.dtype)
        if spec.kind == LAYER_NORM:
            array = array - array.mean(axis=1, keepdims=True)
        array = array * jax.lax.rsqrt(jnp.square(array).mean(axis=1, keepdims=True) + spec.eps)
        if scale is not None:
            array = array * (scale.astype(jnp.float32) + (1.0 if spec.plus_one else 0.0))
        if shift is not None:
            array = array + shift.astype(jnp.float32)
        return array.astype(rows.rows.dtype)

    return jax.checkpoint(run)(rows.rows, rows.scale, rows.shift)


def epilogue(factors: Factors, spec: EpilogueSpec) -> Any:
    """The epilogue of products [R, N]: stores the products, and nothing derived from them."""

    def run(products: Any, shifts: Any) -> Any:
        shifted = [
            product.astype(jnp.float32) if shift is None else product.astype(jnp.float32) + shift
            for product, shift in zip(products, shifts, strict=True)
        ]
        result = spec.activation.compute(shifted[0])
        result = result * shifted[1] if spec.gated else result
        return result.astype(factors.rows.dtype)

    products = [jnp.dot(factors.rows, table.astype(factors.rows.dtype)) for table in factors.tables]
    return jax.checkpoint(run)(products, list(factors.shifts))
