"""The project's own kernels as functions to call: queries [B, N, T, D], keys and values [B, K, S, D], K dividing N.

`mask` and `bias` have four axes, B, N, T and S, each whole or of size 1. Results are [B, N, T, width of the values].
"""

from __future__ import annotations

from typing import Any

from jaxlint_runtime.kernels.activation_functions import ACTIVATIONS, IDENTITY
from jaxlint_runtime.kernels.attention_operands import Operands, Spec
from jaxlint_runtime.kernels.epilogues import EpilogueSpec, Factors
from jaxlint_runtime.kernels.implementations import (
    blockwise_cross_entropy,
    chunked,
    fused_product,
    online_cross_entropy,
    pallas_flash,
    row_kernels,
    triton_flash,
)
from jaxlint_runtime.kernels.implementations.tiles import chip_at_hand
from jaxlint_runtime.kernels.likelihood_operands import Examples
from jaxlint_runtime.kernels.rowwise import LAYER_NORM, RMS_NORM, SOFTMAX, Rows, RowSpec


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
    """Attention by blocks of queries in plain JAX, on any device, in memory linear in T. Differentiable with respect
    to q, k, v and bias."""
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
    blocks: pallas_flash.Blocks | None = None,
) -> Any:
    """Flash attention on TPU by Pallas. Its derivative treats the bias as a constant."""
    return pallas_flash.attention(
        Operands(q, k, v, mask, bias), Spec(scale, causal, cap), blocks or pallas_flash.Blocks()
    )


def triton_flash_attention(
    q: Any,
    k: Any,
    v: Any,
    *,
    scale: float,
    causal: bool = False,
    mask: Any = None,
    bias: Any = None,
    cap: float | None = None,
    blocks: triton_flash.Blocks | None = None,
) -> Any:
    """Flash attention on NVIDIA GPUs by Triton and jax-triton. Its derivative treats the bias as a constant."""
    return triton_flash.attention(Operands(q, k, v, mask, bias), Spec(scale, causal, cap), blocks)


def log_likelihood(rows: Any, table: Any, labels: Any, *, scale: float = 1.0, bias: Any = None) -> Any:
    """log softmax(scale * rows @ table.T + bias) at `labels`, a few rows at a time: [R] in float32.

    `rows` is [R, D], `table` [V, D], `bias` [V]. The mean of its negative is the usual loss of a language model.
    """
    return blockwise_cross_entropy.log_likelihood(Examples(rows, table, labels, bias), scale)


def online_log_likelihood(rows: Any, table: Any, labels: Any, *, scale: float = 1.0, bias: Any = None) -> Any:
    """Like `log_likelihood`, on TPU by Pallas: the logits exist tile by tile, forward and backward."""
    return online_cross_entropy.log_likelihood(Examples(rows, table, labels, bias), scale, chip_at_hand())


def layer_norm(x: Any, scale: Any = None, shift: Any = None, *, eps: float) -> Any:
    """Layer norm along the last axis of any array on TPU by Pallas; the backward pass only stores `x`."""
    return _by_rows(x, Rows(x, scale, shift), RowSpec(LAYER_NORM, eps))


def rms_norm(x: Any, scale: Any = None, *, eps: float) -> Any:
    """RMS norm along the last axis of any array on TPU by Pallas; the backward pass only stores `x`."""
    return _by_rows(x, Rows(x, scale), RowSpec(RMS_NORM, eps))


def softmax(x: Any) -> Any:
    """Softmax along the last axis of any array on TPU by Pallas, online: a row may be of any length."""
    return _by_rows(x, Rows(x), RowSpec(SOFTMAX))


def _by_rows(x: Any, given: Rows, spec: RowSpec) -> Any:
    flat = Rows(x.reshape(-1, x.shape[-1]), given.scale, given.shift)
    return row_kernels.compute(flat, spec, chip_at_hand()).reshape(x.shape)


def gated(x: Any, gate: Any, up: Any, *, activation: str = "silu") -> Any:
    """activation(x @ gate) * (x @ up) on TPU by Pallas, for `x` [..., K] and tables [K, N]; neither product is ever
    stored in memory.

    `activation` is "silu", "gelu", "exact gelu", "relu", "squared relu", "sigmoid", "tanh" or "identity".
    """
    return _product(x, (gate, up), (None, None), activation)


def matmul(x: Any, table: Any, bias: Any = None, *, activation: str = "identity") -> Any:
    """activation(x @ table + bias) on TPU by Pallas, for `x` [..., K] and a table [K, N]."""
    return _product(x, (table,), (bias,), activation)


def _product(x: Any, tables: tuple[Any, ...], shifts: tuple[Any, ...], activation: str) -> Any:
    known = {each.name: each for each in (*ACTIVATIONS, IDENTITY)}
    if activation not in known:
        raise ValueError(f"activation {activation!r} is unknown; use one of {', '.join(known)}")
    spec = EpilogueSpec(known[activation], len(tables) == 2)
    factors = Factors(x.reshape(-1, x.shape[-1]), tables, shifts)
    return fused_product.compute(factors, spec, chip_at_hand()).reshape(*x.shape[:-1], tables[0].shape[1])
