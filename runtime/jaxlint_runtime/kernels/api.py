"""The project's own kernels as functions to call: queries [B, N, T, D], keys and values [B, K, S, D], K dividing N.

`mask` and `bias` have four axes, B, N, T and S, each whole or of size 1. Results are [B, N, T, width of the values].
"""

from __future__ import annotations

from typing import Any

from jaxlint_runtime.kernels.implementations import chunked, cross_entropy, flash
from jaxlint_runtime.kernels.layout import Operands, Spec
from jaxlint_runtime.kernels.losses import Examples


def chunked_attention(
    q: Any,
    k: Any,
    v: Any,
    *,
    scale: float,
    causal: bool = False,
    mask: Any = None,
    bias: Any = None,
    cap: float | None = None,
) -> Any:
    """Attention by blocks of queries in plain JAX, on any device, in memory linear in T. Differentiable by all of q, k, v and bias."""
    return chunked.attention(Operands(q, k, v, mask, bias), Spec(scale, causal, cap))


def flash_attention(
    q: Any,
    k: Any,
    v: Any,
    *,
    scale: float,
    causal: bool = False,
    mask: Any = None,
    bias: Any = None,
    cap: float | None = None,
    blocks: flash.Blocks | None = None,
) -> Any:
    """Flash attention on TPU by Pallas. Its derivative takes the bias for a constant."""
    return flash.attention(Operands(q, k, v, mask, bias), Spec(scale, causal, cap), blocks or flash.Blocks())


def log_likelihood(rows: Any, table: Any, labels: Any, *, scale: float = 1.0, bias: Any = None) -> Any:
    """log softmax(scale * rows @ table.T + bias) at `labels`, a few rows at a time: [R] in float32.

    `rows` is [R, D], `table` [V, D], `bias` [V]. The mean of its negative is the usual loss of a language model.
    """
    return cross_entropy.log_likelihood(Examples(rows, table, labels, bias), scale)
