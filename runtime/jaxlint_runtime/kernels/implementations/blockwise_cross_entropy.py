"""Log-likelihoods over a large vocabulary, a few rows at a time: the logits of all rows never exist at once.

Each block of rows is a checkpoint, so the backward pass recomputes its logits instead of storing them.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import jax
import jax.numpy as jnp

from jaxlint_runtime.kernels.likelihood_operands import Examples

_BLOCK_BYTES = 8 * 2**20  # of float32 logits
_LEAST_ROWS = 64


def block_rows(count: int, vocabulary: int) -> int:
    """How many of `count` rows of logits exist at once."""
    return min(count, max(_LEAST_ROWS, _BLOCK_BYTES // (4 * vocabulary)))


def log_likelihood(examples: Examples, scale: float, widen: bool = False) -> Any:
    """log softmax(scale * rows @ table.T + bias) at the labels: [R] in float32.

    `widen`: multiply in float32, for machines without 16-bit products.
    """
    count, vocabulary = examples.rows.shape[0], examples.table.shape[0]
    size = block_rows(count, vocabulary)
    blocks = math.ceil(count / size)
    size = math.ceil(count / blocks)
    missing = blocks * size - count
    rows = jnp.pad(examples.rows, ((0, missing), (0, 0))).reshape(blocks, size, -1)
    labels = jnp.pad(examples.label, (0, missing)).reshape(blocks, size)

    @functools.partial(jax.checkpoint, prevent_cse=False)
    def block(rows: Any, labels: Any, table: Any, bias: Any) -> Any:
        if widen:
            rows, table = rows.astype(jnp.float32), table.astype(jnp.float32)
        scores = jnp.einsum("rd,vd->rv", rows, table, preferred_element_type=jnp.float32) * scale
        scores = scores if bias is None else scores + bias
        picked = jnp.take_along_axis(scores, labels[:, None], axis=1)[:, 0]
        return picked - jax.nn.logsumexp(scores, axis=1)

    if blocks == 1:
        return block(rows[0], labels[0], examples.table, examples.bias)[:count]
    result = jax.lax.map(lambda xs: block(*xs, examples.table, examples.bias), (rows, labels))
    return result.reshape(blocks * size)[:count]
