"""JAX's own attention: `jax.nn.dot_product_attention` and the kernels of `jax.experimental.pallas.ops`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from jaxlint_runtime.kernels.attention_operands import Operands, Spec

_LANES = 128
_SPLASH_BLOCKS = (512, 256, 128)


class Unsupported(Exception):
    """A kernel cannot compute this attention; the message says why."""


def dot_product_attention(operands: Operands, spec: Spec, implementation: str | None = "xla") -> Any:
    """`jax.nn.dot_product_attention`, by XLA or by cuDNN."""
    if spec.cap is not None:
        raise Unsupported("jax.nn.dot_product_attention cannot cap scores")
    return _time_first(jax.nn.dot_product_attention, operands, spec, implementation=implementation)


def _time_first(attention: Callable[..., Any], operands: Operands, spec: Spec, **options: Any) -> Any:
    """The result of a function that takes and returns [B, T, N, width], with the argument names of
    `jax.nn.dot_product_attention`."""
    queries, keys, values = (
        array.transpose(0, 2, 1, 3) for array in (operands.queries, operands.keys, operands.values)
    )
    result = attention(
        queries,
        keys,
        values,
        bias=None if operands.bias is None else operands.bias.astype(queries.dtype),
        mask=operands.mask,
        scale=spec.scale,
        is_causal=spec.causal,
        **options,
    )
    return result.transpose(0, 2, 1, 3)


def tpu_flash_attention(operands: Operands, spec: Spec) -> Any:
    """`jax.experimental.pallas.ops.tpu.flash_attention`: one head of keys per head of queries, a bias of full size."""
    from jax.experimental.pallas.ops.tpu.flash_attention import flash_attention

    if spec.cap is not None:
        raise Unsupported("it cannot cap scores")
    if operands.mask is not None or operands.bias is not None:
        raise Unsupported("it takes a mask or bias only in full size")
    _batch, heads, time, depth = operands.queries.shape
    if operands.keys.shape[2] % 128 or time % 128 or operands.values.shape[3] != depth:
        raise Unsupported("it takes lengths that are multiples of 128")
    repeats = heads // operands.keys.shape[1]
    keys, values = (
        jnp.repeat(array, repeats, axis=1) if repeats > 1 else array
        for array in (operands.keys, operands.values)
    )
    return flash_attention(operands.queries, keys, values, causal=spec.causal, sm_scale=spec.scale)


def splash_attention(operands: Operands, spec: Spec) -> Any:
    """`jax.experimental.pallas.ops.tpu.splash_attention`: shared keys and caps, no bias; it skips blocks that a
    causal mask hides."""
    from jax.experimental.pallas.ops.tpu.splash_attention import splash_attention_kernel as splash
    from jax.experimental.pallas.ops.tpu.splash_attention import splash_attention_mask as masks

    if operands.mask is not None or operands.bias is not None:
        raise Unsupported("it takes a compile-time constant mask and no bias")
    heads, time = operands.queries.shape[1:3]
    positions = operands.keys.shape[2]
    if time % _LANES or positions % _LANES:
        raise Unsupported("it takes lengths that are multiples of 128")
    shape = (time, positions)
    mask = masks.CausalMask(shape) if spec.causal else masks.FullMask(shape)
    q, k = (next(block for block in _SPLASH_BLOCKS if length % block == 0) for length in shape)
    kernel = splash.make_splash_mha(
        masks.MultiHeadMask([mask] * heads),
        head_shards=1,
        q_seq_shards=1,
        attn_logits_soft_cap=spec.cap,
        block_sizes=splash.BlockSizes(
            block_q=q, block_kv=k, block_q_dkv=q, block_kv_dkv=k, block_q_dq=q, block_kv_dq=k
        ),
    )
    queries = (operands.queries * spec.scale).astype(operands.queries.dtype)
    return jax.vmap(kernel)(queries, operands.keys, operands.values).astype(operands.values.dtype)


def tokamax_attention(operands: Operands, spec: Spec) -> Any:
    """`tokamax.dot_product_attention`, if tokamax is installed; it chooses the kernel for the device itself."""
    import tokamax  # type: ignore[import-not-found]

    result = _time_first(tokamax.dot_product_attention, operands, spec, logits_soft_cap=spec.cap)
    return result.astype(operands.values.dtype)


def gpu_mha(operands: Operands, spec: Spec) -> Any:
    """`jax.experimental.pallas.ops.gpu.attention.mha`, by Pallas and Triton."""
    from jax.experimental.pallas.ops.gpu.attention import mha

    if spec.cap is not None or operands.mask is not None or operands.bias is not None:
        raise Unsupported("it takes no mask, bias or cap")
    _batch, heads, time, depth = operands.queries.shape
    positions = operands.keys.shape[2]
    if time % 128 or positions % 128 or operands.values.shape[3] != depth:
        raise Unsupported("it takes lengths that are multiples of 128")
    repeats = heads // operands.keys.shape[1]
    queries, keys, values = (
        array.transpose(0, 2, 1, 3) for array in (operands.queries, operands.keys, operands.values)
    )
    if repeats > 1:
        keys, values = jnp.repeat(keys, repeats, axis=2), jnp.repeat(values, repeats, axis=2)
    result = mha(queries, keys, values, segment_ids=None, sm_scale=spec.scale, causal=spec.causal)
    return result.transpose(0, 2, 1, 3)
