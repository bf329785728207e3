"""Flash attention for NVIDIA GPUs by Triton, called through jax-triton if that is installed: forward and backward.

It accepts the same inputs as the project's TPU kernel (broadcast masks and biases, shared keys, caps, any length),
with contiguous arrays [B, N, T, D]. Without a GPU, jax-triton can still compile it for a named GPU, and Triton's
interpreter runs it on a CPU.
"""

from __future__ import annotations

import contextlib
import contextvars
import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxlint_runtime.kernels.attention_operands import Operands, Spec
from jaxlint_runtime.kernels.implementations import triton_interpreter
from jaxlint_runtime.kernels.implementations.pallas_flash import added

_KERNELS = f"{__package__}.triton_kernels"
_LEAST = 16  # of the axes of a product

_interpreting: contextvars.ContextVar[bool] = contextvars.ContextVar("interpreting", default=False)


@dataclass(frozen=True)
class Blocks:
    """Rows of queries and of keys for one program of the grid, and the GPU's launch parameters."""

    queries: int
    keys: int
    warps: int = 4
    stages: int = 2


@contextlib.contextmanager
def interpreted() -> Iterator[None]:
    """Inside, Triton's interpreter runs the kernels on the CPU."""
    token = _interpreting.set(True)
    try:
        yield
    finally:
        _interpreting.reset(token)


def default(depth: int, dtype: Any) -> Blocks:
    """Blocks whose tiles fit the shared memory of an A100 (163 KiB), forward and backward."""
    if jnp.dtype(dtype).itemsize > 2:
        return Blocks(32, 32)
    return Blocks(64, 64) if depth <= 128 else Blocks(64, 32)


def sizes(depth: int, dtype: Any) -> tuple[Blocks, ...]:
    """Sizes worth timing on the current GPU; a launch refuses those that do not fit its shared memory."""
    first = default(depth, dtype)
    more = (Blocks(64, 32), Blocks(128, 32), Blocks(128, 64, 8), Blocks(64, 64, 4, 3), Blocks(128, 64, 8, 3))
    return (first, *(each for each in more if each != first))


def most_depth(dtype: Any) -> int:
    """The widest heads with suitable blocks."""
    return 128 if jnp.dtype(dtype).itemsize > 2 else 256


def attention(
    operands: Operands, spec: Spec, blocks: Blocks | None = None, capability: int | None = None
) -> Any:
    """Attention [B, N, T, E] in the dtype of the values; its derivative treats a bias as a constant.

    `capability` is the compute capability to compile for (90 for an H100); None queries the current GPU.
    """
    depth = max(operands.queries.shape[3], operands.values.shape[3])
    blocks = blocks or default(depth, operands.queries.dtype)
    bias = added(operands)
    return _flash(
        operands.queries,
        operands.keys,
        operands.values,
        None if bias is None else jax.lax.stop_gradient(bias),
        _Static(spec, blocks, operands.mask is not None, capability),
    )


@dataclass(frozen=True)
class _Static:
    spec: Spec
    blocks: Blocks
    masked: bool
    capability: int | None


@functools.partial(jax.custom_vjp, nondiff_argnums=(4,))
def _flash(queries: Any, keys: Any, values: Any, bias: Any, static: _Static) -> Any:
    return _forward(queries, keys, values, bias, static)[0]


def _forward(queries: Any, keys: Any, values: Any, bias: Any, static: _Static) -> list[Any]:
    batch, heads, time, _ = queries.shape
    result = jax.ShapeDtypeStruct((batch, heads, time, values.shape[3]), values.dtype)
    rows = jax.ShapeDtypeStruct((batch, heads, 2, time), jnp.float32)
    grid = (-(-time // static.blocks.queries), batch * heads)
    return _launch("forward", grid, (queries, keys, values, bias), (result, rows), static)


def _flash_forward(queries: Any, keys: Any, values: Any, bias: Any, static: _Static) -> Any:
    result, rows = _forward(queries, keys, values, bias, static)
    return result, (queries, keys, values, bias, result, rows)


def _flash_backward(static: _Static, residuals: Any, cotangent: Any) -> Any:
    queries, keys, values, bias, result, rows = residuals
    batch, heads, time, _ = queries.shape
    delta = jnp.sum(cotangent.astype(jnp.float32) * result.astype(jnp.float32), axis=3)
    given = (queries, keys, values, bias, cotangent, rows, delta)
    grid = (-(-time // static.blocks.queries), batch * heads)
    (by_queries,) = _launch("backward_queries", grid, given, (queries,), static)
    grid = (-(-keys.shape[2] // static.blocks.keys), batch * keys.shape[1])
    by_keys, by_values = _launch("backward_keys", grid, given, (keys, values), static)
    return by_queries, by_keys, by_values, None if bias is None else jnp.zeros_like(bias)


_flash.defvjp(_flash_forward, _flash_backward)


def _launch(
    name: str, grid: tuple[int, int], given: Sequence[Any], like: Sequence[Any], static: _Static
) -> list[Any]:
    """Runs a kernel on arrays, the first four of them queries, keys, values and bias; the results have the shapes
    `like` these."""
    queries, keys, values, bias = given[:4]
    shapes = [jax.ShapeDtypeStruct(each.shape, each.dtype) for each in like]
    constants = _constants(queries, keys, values, bias, static)
    # A kernel told that there is no bias reads none; any array may be in its place.
    arrays = [queries if array is None else array for array in given]
    if _interpreting.get():
        run = functools.partial(_interpret, name, grid, shapes, constants)
        return list(jax.pure_callback(run, shapes, *arrays))
    import jax_triton  # type: ignore[import-not-found]

    from jaxlint_runtime.kernels.implementations import triton_kernels

    return list(
        jax_triton.triton_call(
            *arrays,
            kernel=getattr(triton_kernels, name),
            out_shape=shapes,
            grid=grid,
            name=f"flash_{name}",
            num_warps=static.blocks.warps,
            num_stages=static.blocks.stages,
            compute_capability=static.capability,
            **constants,
        )
    )


def _interpret(
    name: str, grid: tuple[int, int], shapes: Sequence[Any], constants: dict[str, Any], *arrays: Any
) -> Any:
    """In float32 in place of bfloat16, which Triton's interpreter (3.9) multiplies as integers."""
    wide = [
        array.astype(np.float32) if array.dtype == jnp.bfloat16 else array
        for array in map(np.asarray, arrays)
    ]
    float32 = [
        jax.ShapeDtypeStruct(each.shape, jnp.float32 if each.dtype == jnp.bfloat16 else each.dtype)
        for each in shapes
    ]
    found = triton_interpreter.launch((_KERNELS, name), grid, wide, float32, constants)
    return [array.astype(each.dtype) for array, each in zip(found, shapes, strict=True)]


def _constants(queries: Any, keys: Any, values: Any, bias: Any, static: _Static) -> dict[str, Any]:
    """The compile-time constants of a kernel."""
    heads, time, depth = queries.shape[1:]
    own_heads, positions, width = keys.shape[1], keys.shape[2], values.shape[3]
    return {
        "heads": heads,
        "groups": heads // own_heads,
        "time": time,
        "positions": positions,
        "depth": depth,
        "width": width,
        "scale": static.spec.scale,
        "cap": static.spec.cap,
        "causal": static.spec.causal,
        "masked": static.masked,
        "bias_step": None if bias is None else _steps(bias.shape),
        "BQ": static.blocks.queries,
        "BK": static.blocks.keys,
        "BD": _power(depth),
        "BE": _power(width),
    }


def _steps(shape: Sequence[int]) -> tuple[int, ...]:
    """The stride of each axis in elements; 0 for an axis of one element."""
    steps, step = [], 1
    for size in reversed(shape):
        steps.append(step if size > 1 else 0)
        step *= size
    return tuple(reversed(steps))


def _power(length: int) -> int:
    """The next power of two, as products require."""
    return max(_LEAST, 1 << (length - 1).bit_length())
