"""Plain reference implementations, following the definitions."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from jaxlint_runtime.kernels.attention_operands import Operands, Spec

MASKED = -0.7 * float(jnp.finfo(jnp.float32).max)


def scores(
    queries: Any, keys: Any, spec: Spec, mask: Any = None, bias: Any = None, first_row: Any = 0
) -> Any:
    """Scores in float32 of queries [..., T, D] and keys [..., S, D]; `first_row` is the position of the first query."""
    products = jnp.einsum("...td,...sd->...ts", queries, keys, preferred_element_type=jnp.float32)
    products = products.astype(jnp.float32) * spec.scale
    if spec.cap is not None:
        products = spec.cap * jnp.tanh(products / spec.cap)
    if bias is not None:
        products = products + bias
    if mask is not None:
        products = jnp.where(mask, products, MASKED)
    if spec.causal:
        rows = jnp.arange(queries.shape[-2])[:, None] + first_row
        products = jnp.where(rows >= jnp.arange(keys.shape[-2])[None, :], products, MASKED)
    return products


def softmax(values: Any) -> Any:
    """Softmax along the last axis."""
    raised = jnp.exp(values - values.max(axis=-1, keepdims=True))
    return raised / raised.sum(axis=-1, keepdims=True)


def attention(operands: Operands, spec: Spec) -> Any:
    """Attention that computes all scores at once, in float32."""
    queries = operands.queries.astype(jnp.float32)
    repeats = queries.shape[1] // operands.keys.shape[1]
    keys = jnp.repeat(operands.keys.astype(jnp.float32), repeats, axis=1)
    values = jnp.repeat(operands.values.astype(jnp.float32), repeats, axis=1)
    weights = softmax(scores(queries, keys, spec, operands.mask, operands.bias))
    return (weights @ values).astype(operands.values.dtype)
