"""The implementations of attention for a target, and the way a person calls each."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp

from jaxlint_runtime.deferred_imports import deferred
from jaxlint_runtime.kernels.attention_operands import Layout
from jaxlint_runtime.kernels.implementations import chunked, jax_attention, pallas_flash, triton_flash
from jaxlint_runtime.targets import Target, kernels_missing

pltpu = deferred("jax.experimental.pallas.tpu")

CALL = "attention-call"
_MULTIPLE = 128  # of the lengths that JAX's kernels accept


@dataclass(frozen=True)
class Choice:
    """One implementation."""

    name: str
    platforms: tuple[str, ...]
    run: Callable[..., Any]  # a function of Operands and Spec, with `blocks` if there are `sizes`
    refuses: Callable[[Layout], str | None]
    call: Callable[[Layout], str]
    interpreter: Callable[[], AbstractContextManager[Any]] | None = (
        None  # inside, it runs step by step on a CPU
    )
    needs_device: bool = False  # it chooses its kernel by the current device
    codemod: str | None = None  # the codemod that writes the call to the source
    implementation: str | None = None  # of `jax.nn.dot_product_attention`, if that is the call
    sizes: Callable[[Layout], Sequence[Any]] | None = (
        None  # of blocks, to be timed; those of the target first
    )
    missing: str | None = None  # the message that its package is not installed, and how to install it


def choices(target: Target) -> list[Choice]:
    """The implementations for a target, the most promising first."""
    widen = target.platform == "cpu"
    every = [
        Choice(
            "flash_attention",
            ("tpu",),
            jax_attention.tpu_flash_attention,
            _no_flash,
            lambda layout: _imported(
                "jax.experimental.pallas.ops.tpu.flash_attention.flash_attention", layout, "sm_scale"
            ),
            interpreter=pltpu.force_tpu_interpret_mode,
        ),
        Choice(
            "jaxlint_flash",
            ("tpu",),
            pallas_flash.attention,
            _no_own_flash,
            lambda layout: _imported("jaxlint_runtime.kernels.api.flash_attention", layout, "scale"),
            interpreter=pltpu.force_tpu_interpret_mode,
            sizes=lambda layout: pallas_flash.SIZES,
        ),
        Choice(
            "splash_attention",
            ("tpu",),
            jax_attention.splash_attention,
            _no_splash,
            lambda layout: (
                "jax.vmap(splash_attention_kernel.make_splash_mha(mask, head_shards=1, q_seq_shards=1))(scale * q, k, v) "
                "of jax.experimental.pallas.ops.tpu.splash_attention"
            ),
            interpreter=pltpu.force_tpu_interpret_mode,
        ),
        Choice(
            "cudnn",
            ("gpu",),
            functools.partial(jax_attention.dot_product_attention, implementation="cudnn"),
            _no_cudnn,
            lambda layout: _dot_product(layout, "cudnn"),
            codemod=CALL,
            implementation="cudnn",
        ),
        Choice(
            "mha",
            ("gpu",),
            jax_attention.gpu_mha,
            _no_flash,
            lambda layout: _imported("jax.experimental.pallas.ops.gpu.attention.mha", layout, "sm_scale"),
        ),
        Choice(
            "triton_flash",
            ("gpu",),
            functools.partial(triton_flash.attention, capability=target.capability),
            _no_triton,
            lambda layout: _imported("jaxlint_runtime.kernels.api.triton_flash_attention", layout, "scale"),
            interpreter=triton_flash.interpreted,
            sizes=_triton_sizes,
            missing=kernels_missing("jax_triton"),
        ),
        Choice(
            "chunked",
            ("cpu", "gpu", "tpu"),
            functools.partial(chunked.attention, widen=widen),
            lambda layout: None,
            lambda layout: _imported("jaxlint_runtime.kernels.api.chunked_attention", layout, "scale"),
        ),
        Choice(
            "dot_product_attention",
            ("cpu", "gpu"),
            jax_attention.dot_product_attention,
            _no_dot_product,
            lambda layout: _dot_product(layout, None),
            codemod=CALL,
        ),
        Choice(
            "tokamax",
            ("gpu", "tpu"),
            jax_attention.tokamax_attention,
            lambda layout: None,
            lambda layout: (
                f"tokamax.dot_product_attention(q, k, v{_comma(_given(layout, 'scale', 'is_causal'))}) on [B, T, N, H]"
            ),
            needs_device=True,
            missing=kernels_missing("tokamax"),
        ),
    ]
    return [choice for choice in every if target.platform in choice.platforms]


def _no_flash(layout: Layout) -> str | None:
    if layout.spec.cap is not None:
        return "it cannot cap scores"
    if layout.masks or layout.biases:
        return "it takes a mask or bias only in full size"
    width = layout.sizes.size(layout.width)
    if layout.shape[2] % _MULTIPLE or layout.key_shape[2] % _MULTIPLE or width != layout.shape[3]:
        return f"it takes lengths that are multiples of {_MULTIPLE}"
    return None


def _no_splash(layout: Layout) -> str | None:
    if layout.masks or layout.biases:
        return "it takes a compile-time constant mask and no bias"
    if layout.shape[2] % _MULTIPLE or layout.key_shape[2] % _MULTIPLE:
        return f"it takes lengths that are multiples of {_MULTIPLE}"
    return None


def _no_own_flash(layout: Layout) -> str | None:
    """Its derivative treats biases as constants."""
    read = [value for bias, _ in layout.biases for value in bias.reads()]
    if any(jnp.issubdtype(value.aval.dtype, jnp.floating) for value in read):
        return "it has no gradient for a bias"
    return None


def _no_triton(layout: Layout) -> str | None:
    dtype = layout.attention.queries.value.aval.dtype
    if str(dtype) not in ("bfloat16", "float16", "float32"):
        return f"it does not compute in {dtype}"
    most = triton_flash.most_depth(dtype)
    if max(layout.shape[3], layout.sizes.size(layout.width)) > most:
        return f"it takes heads of up to {most} in {dtype}"
    return _no_own_flash(layout)


def _triton_sizes(layout: Layout) -> Sequence[triton_flash.Blocks]:
    depth = max(layout.shape[3], layout.sizes.size(layout.width))
    return triton_flash.sizes(depth, layout.attention.queries.value.aval.dtype)


def _no_dot_product(layout: Layout) -> str | None:
    return "it cannot cap scores" if layout.spec.cap is not None else None


def _no_cudnn(layout: Layout) -> str | None:
    if str(layout.attention.queries.value.aval.dtype) not in ("bfloat16", "float16"):
        return "cuDNN computes attention only in 16 bits"
    if layout.shape[3] % 8 or layout.shape[3] > 256:
        return "cuDNN takes heads of up to 256, in steps of 8"
    return _no_dot_product(layout)


def _dot_product(layout: Layout, implementation: str | None) -> str:
    extra = [f"implementation={implementation!r}"] if implementation else []
    given = _given(layout, "scale", "is_causal")
    return f"jax.nn.dot_product_attention(q, k, v{_comma([*given, *extra])}) on [B, T, N, H]"


def _imported(name: str, layout: Layout, scale: str) -> str:
    module, _, function = name.rpartition(".")
    return f"{module}.{function}(q, k, v{_comma(_given(layout, scale, 'causal'))})"


def _comma(given: list[str]) -> str:
    return "".join(f", {text}" for text in given)


def _given(layout: Layout, scale: str, causal: str) -> list[str]:
    given = [f"{scale}={layout.spec.scale:.6g}"]
    if layout.spec.causal:
        given.append(f"{causal}=True")
    if layout.biases:
        given.append("bias=bias")
    if layout.masks:
        given.append("mask=mask")
    if layout.spec.cap is not None:
        given.append(f"cap={layout.spec.cap:.6g}")
    return given
