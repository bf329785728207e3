"""Operands of attention for property tests: any layout, scale, cap, masks and biases."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from hypothesis import strategies as st

from jaxlint_runtime.kernels.attention_operands import Operands, Spec

lengths = st.integers(1, 300)


@st.composite
def attentions(draw, dtypes=("float32", "bfloat16")):
    """Operands of any layout with a scale, a cap, masks and biases, each broadcast along some axes."""
    batch, own_heads, groups = draw(st.tuples(*[st.integers(1, 2)] * 3))
    time, depth, width = draw(lengths), draw(st.sampled_from((8, 64, 130))), draw(st.sampled_from((8, 64)))
    causal = draw(st.booleans())
    positions = time if causal else draw(lengths)
    dtype = draw(st.sampled_from(dtypes))
    generator = np.random.default_rng(draw(st.integers(0, 9)))
    heads = own_heads * groups
    whole = (batch, heads, time, positions)

    def normal(*shape):
        return jnp.asarray(generator.normal(size=shape), dtype)

    def some_axes():
        return tuple(size if draw(st.booleans()) else 1 for size in whole)

    mask = bias = None
    if draw(st.booleans()):
        mask = jnp.asarray(generator.random(some_axes()) < 0.7).at[..., 0].set(True)
    if draw(st.booleans()):
        bias = jnp.asarray(generator.normal(size=some_axes()), jnp.float32)
    spec = Spec(draw(st.sampled_from((1.0, 0.2))), causal, draw(st.sampled_from((None, 3.0))))
    queries, keys = normal(batch, heads, time, depth), normal(batch, own_heads, positions, depth)
    return Operands(queries, keys, normal(batch, own_heads, positions, width), mask, bias), spec
