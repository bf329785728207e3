"""The project's own Pallas kernels, interpreted here, against plain references in value and gradient."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jax.experimental.pallas import tpu as pltpu

from jaxlint_runtime.kernels.activation_functions import ACTIVATIONS, IDENTITY
from jaxlint_runtime.kernels.epilogues import EpilogueSpec, Factors
from jaxlint_runtime.kernels.implementations import fused_product, online_cross_entropy, row_kernels, tiles
from jaxlint_runtime.kernels.likelihood_operands import Examples
from jaxlint_runtime.kernels.rowwise import LAYER_NORM, RMS_NORM, SOFTMAX, Rows, RowSpec

_TOLERANCE = {"float32": 2e-5, "bfloat16": 3e-2}
dtypes = st.sampled_from(("float32", "bfloat16"))


def weighted(function):
    """The gradients of a weighted sum of what a function returns, and what it returns."""

    def total(*given):
        result = function(*given)
        weights = jnp.cos(jnp.arange(result.size, dtype=jnp.float32)).reshape(result.shape)
        return jnp.sum(result.astype(jnp.float32) * weights), result

    return lambda *given: jax.jit(jax.grad(total, tuple(range(len(given))), has_aux=True))(*given)


def agree(kernel, reference, *arrays):
    with pltpu.force_tpu_interpret_mode():
        found = weighted(kernel)(*arrays)
    expected = weighted(reference)(*(array.astype(jnp.float32) for array in arrays))
    allowed = _TOLERANCE[str(arrays[0].dtype)]
    for a, b in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
        a, b = (np.asarray(x, np.float64) for x in (a, b))
        assert np.linalg.norm(a - b) <= allowed * (np.linalg.norm(b) + 0.05 * np.sqrt(b.size)), (a, b)


def normal(seed, dtype, *shape):
    return jnp.asarray(np.random.default_rng(seed).normal(size=shape), dtype)


def norm(spec):
    def reference(x, scale, shift):
        x = x - x.mean(1, keepdims=True) if spec.kind == LAYER_NORM else x
        scale = scale + 1.0 if spec.plus_one else scale
        return x / jnp.sqrt(jnp.square(x).mean(1, keepdims=True) + spec.eps) * scale + shift

    return reference


@settings(max_examples=4, deadline=None, derandomize=True)
@given(
    st.integers(1, 70), st.integers(2, 300), dtypes, st.sampled_from((LAYER_NORM, RMS_NORM)), st.booleans()
)
def test_norms(count, width, dtype, kind, plus_one):
    spec = RowSpec(kind, 1e-5, plus_one)
    arrays = normal(0, dtype, count, width), normal(1, "float32", width), normal(2, "float32", width)
    agree(lambda x, scale, shift: row_kernels.compute(Rows(x, scale, shift), spec), norm(spec), *arrays)


@settings(max_examples=4, deadline=None, derandomize=True)
@given(st.integers(1, 70), st.integers(1, 700), dtypes, st.sampled_from((128, 256, 4096)), st.booleans())
def test_softmax_whose_rows_may_be_longer_than_a_tile(count, width, dtype, columns, masked):
    x = 4.0 * normal(0, dtype, count, width)
    if masked:  # the whole first tile of every other row, so that nothing of it counts
        hidden = (jnp.arange(width) < min(130, width - 1))[None] & (jnp.arange(count) % 2 == 0)[:, None]
        x = jnp.where(hidden, -jnp.inf, x)
    before, row_kernels._MOST_COLUMNS = row_kernels._MOST_COLUMNS, columns
    try:
        agree(
            lambda x: row_kernels.compute(Rows(x), RowSpec(SOFTMAX)), lambda x: jax.nn.softmax(x, axis=1), x
        )
    finally:
        row_kernels._MOST_COLUMNS = before


@settings(max_examples=5, deadline=None, derandomize=True)
@given(
    st.integers(1, 60), st.integers(1, 300), st.integers(1, 200), dtypes,
    st.sampled_from((*ACTIVATIONS, IDENTITY)), st.booleans(), st.booleans(),
)  # fmt: skip
def test_products_with_epilogues(count, depth, width, dtype, activation, gated, shifted):
    spec = EpilogueSpec(activation, gated)
    tables = [normal(n, dtype, depth, width) / depth**0.5 for n in range(1 + gated)]
    shifts = [normal(7 + n, "float32", width) for n in range(1 + gated)] if shifted else []

    def split(given):
        return given[: 1 + gated], given[1 + gated :] or (None,) * (1 + gated)

    def kernel(x, *given):
        return fused_product.compute(Factors(x, *map(tuple, split(given))), spec)

    def reference(x, *given):
        parts = [
            x @ table if shift is None else x @ table + shift
            for table, shift in zip(*split(given), strict=True)
        ]
        result = activation.compute(parts[0])
        return result * parts[1] if gated else result

    before, fused_product._LARGEST = fused_product._LARGEST, (32, 128, 128)
    try:
        agree(kernel, reference, normal(5, dtype, count, depth), *tables, *shifts)
    finally:
        fused_product._LARGEST = before


@settings(max_examples=3, deadline=None, derandomize=True)
@given(st.integers(1, 200), st.integers(1, 150), st.integers(2, 400), dtypes)
def test_cross_entropy(count, depth, vocabulary, dtype):
    labels = jnp.asarray(np.random.default_rng(3).integers(0, vocabulary, count))

    def reference(x, table, bias):
        return jax.nn.log_softmax(0.5 * x @ table.T + bias)[jnp.arange(count), labels]

    before = online_cross_entropy._LARGEST
    online_cross_entropy._LARGEST = (128, 128)
    try:
        agree(
            lambda x, table, bias: online_cross_entropy.log_likelihood(Examples(x, table, labels, bias), 0.5),
            reference,
            normal(0, dtype, count, depth),
            normal(1, dtype, vocabulary, depth) / depth**0.5,
            normal(2, "float32", vocabulary),
        )
    finally:
        online_cross_entropy._LARGEST = before


@pytest.mark.parametrize("activation", ACTIVATIONS, ids=lambda activation: activation.name)
def test_an_activation_of_kernels_is_that_of_the_matcher(activation):
    x = np.linspace(-6, 6, 101)
    expected = activation.reference(x)
    np.testing.assert_allclose(
        activation.compute(jnp.asarray(x, jnp.float32)), expected, rtol=2e-5, atol=2e-6
    )
    arguments = {"jax": jax, "jnp": jnp, "x": jnp.asarray(x, jnp.float32)}
    written = eval(activation.call.format("x"), arguments)
    np.testing.assert_allclose(written, expected, rtol=2e-5, atol=2e-6)


def test_tiles_fit_the_memory_that_they_are_given():
    def need(sizes):
        return sizes[0] * sizes[1]

    assert tiles.shrunk((512, 1024), (128, 128), need, 10**9) == [512, 1024]
    assert need(tiles.shrunk((512, 1024), (128, 128), need, 70_000)) <= 70_000
    assert tiles.shrunk((512, 1024), (128, 128), need, 1) == [128, 128]
    assert tiles.budget("v4") < tiles.budget("v5e")
    assert tiles.fitting(5000, 4096, 128) == 2560
