"""Checks a kernel at a small size on this machine: Pallas or Triton interprets it, and a plain reference provides the
expected result."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxlint_runtime.deferred_imports import deferred
from jaxlint_runtime.kernels.attention_operands import Layout, Operands, Spec
from jaxlint_runtime.kernels.implementations import plain_definitions

if TYPE_CHECKING:
    from jaxlint_runtime.kernels.implementations.attention_choices import Choice

pltpu = deferred("jax.experimental.pallas.tpu")

_LENGTH = 256
_TOLERANCE = {
    "bfloat16": 2e-2,
    "float16": 4e-3,
}  # relative, of the norm; float32 products may be computed in parts


class Differs(Exception):
    """A kernel and the reference disagree."""


def interpreted(choice: Choice, layouts: Sequence[Layout]) -> str:
    """Checks a kernel for each kind of attention that it should compute, and describes the check. Raises Differs."""
    texts = []
    for layout in layouts:
        operands, spec = shrunk(layout)
        checked(choice.name, choice.run, operands, spec, choice.interpreter)
        texts.append("x".join(map(str, operands.queries.shape)) + (" causal" if spec.causal else ""))
    kinds = ", ".join(dict.fromkeys(texts))
    return f"the kernel itself interpreted on this CPU for queries of {kinds}, values and gradients agree with a plain reference"


def shrunk(layout: Layout) -> tuple[Operands, Spec]:
    """Random operands with the features of an attention and at most 256 positions, one batch element, one key head."""
    return drawn(layout, batch=1, own_heads=1, length=_LENGTH), layout.spec


def drawn(
    layout: Layout, batch: int | None = None, own_heads: int | None = None, length: int | None = None
) -> Operands:
    """Random operands for an attention, in its own size by default."""
    whole_batch, heads, time, depth = layout.shape
    _, all_own_heads, positions, _ = layout.key_shape
    batch, own_heads = batch or whole_batch, own_heads or all_own_heads
    time, positions = (min(size, length or size) for size in (time, positions))
    dtype = layout.attention.queries.value.aval.dtype
    generator = np.random.default_rng(0)

    def normal(*shape: int) -> Any:
        return jnp.asarray(generator.normal(size=shape), dtype)

    mask = (
        jnp.asarray(generator.random((1, 1, 1, positions)) < 0.8).at[..., 0].set(True)
        if layout.masks
        else None
    )
    bias = jnp.asarray(generator.normal(size=(1, 1, time, positions)), jnp.float32) if layout.biases else None
    return Operands(
        normal(batch, own_heads * (heads // all_own_heads), time, depth),
        normal(batch, own_heads, positions, depth),
        normal(batch, own_heads, positions, layout.sizes.size(layout.width)),
        mask,
        bias,
    )


def checked(
    name: str,
    run: Callable[[Operands, Spec], Any],
    operands: Operands,
    spec: Spec,
    interpreter: Callable[[], AbstractContextManager[Any]] | None = lambda: pltpu.force_tpu_interpret_mode(),
) -> None:
    """Compares interpreted values and gradients with those of the reference in float32. Raises Differs."""
    with interpreter() if interpreter is not None else contextlib.nullcontext():
        found = _with_gradients(lambda given: run(given, spec), operands)
    queries, keys, values = (
        array.astype(jnp.float32) for array in (operands.queries, operands.keys, operands.values)
    )
    wide = Operands(queries, keys, values, operands.mask, operands.bias)
    expected = _with_gradients(lambda given: plain_definitions.attention(given, spec), wide)
    allowed = _TOLERANCE.get(str(operands.queries.dtype), 1e-4)
    for part, a, b in zip(("values", "queries", "keys", "values'"), found, expected, strict=True):
        error = float(np.linalg.norm(np.asarray(a, np.float64) - np.asarray(b, np.float64)))
        # A gradient may be zero in theory, such as that of a single key; compared with 1 per element, rounding is not
        # an error.
        norm = max(float(np.linalg.norm(np.asarray(b, np.float64))), 0.05 * np.sqrt(np.size(b)))
        if not error <= allowed * norm:
            what = "values" if part == "values" else f"gradient of the {part}"
            raise Differs(f"{name}, interpreted at a small size: {what} off by {error / norm:.2g}")


def _with_gradients(run: Callable[[Operands], Any], operands: Operands) -> list[Any]:
    def total(queries: Any, keys: Any, values: Any) -> tuple[Any, Any]:
        result = run(Operands(queries, keys, values, operands.mask, operands.bias))
        weights = jnp.cos(jnp.arange(result.size, dtype=jnp.float32)).reshape(result.shape)
        return jnp.sum(result.astype(jnp.float32) * weights), result

    gradients, result = jax.jit(jax.grad(total, argnums=(0, 1, 2), has_aux=True))(
        operands.queries, operands.keys, operands.values
    )
    return [result, *gradients]
