"""The harness as a notebook uses it."""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import pytest

from jaxlint_runtime.api import JitOptions, compare, measure, profile

W = jnp.full((256, 256), 0.01)
X = jnp.ones((64, 256))


def layers(w, x, count=8):
    for _ in range(count):
        x = jnp.tanh(x @ w)
    return x


@jax.jit
def jitted(w, x):
    return layers(w, x)


def test_measuring_a_function():
    found = measure(layers, W, X, seconds=0.2)
    assert found.time_ms.low <= found.time_ms.median <= found.time_ms.high
    assert len(found.samples_ms) >= 8
    assert found.cost.flops >= 8 * 2 * 64 * 256 * 256
    assert found.cost.peak_bytes >= W.nbytes + X.nbytes
    assert "measured" in str(found)
    assert "compiler" in str(found)


def test_comparing_says_what_differs_and_what_is_faster():
    def half(w, x):
        return layers(w, x, 1)

    found = compare(jitted, half, W, X, seconds=0.3)
    assert not found.same
    assert "differ" in str(found)
    assert found.speedup.low <= found.speedup.median <= found.speedup.high
    same = compare(jitted, layers, W, X, seconds=0.3)
    assert same.same
    assert same.numerics.max_rel == 0.0
    assert len(same.pairs_ms) >= 8
    assert same._repr_html_().startswith("<div>")


def test_donation_of_a_jitted_function_is_kept_and_consumes_nothing():
    @functools.partial(jax.jit, donate_argnums=0)
    def update(w, x):
        return w * jnp.sum(x)

    plain = measure(lambda w, x: w * jnp.sum(x), W, X, seconds=0.1)
    donated = measure(update, W, X, seconds=0.1)
    assert donated.cost.peak_bytes < plain.cost.peak_bytes
    assert not W.is_deleted()


def test_static_arguments_are_named():
    counted = jax.jit(layers, static_argnums=2)
    with pytest.raises(ValueError, match="static"):
        measure(counted, W, X, 2, seconds=0.1)
    found = measure(layers, W, X, 2, seconds=0.1, options=JitOptions(static_argnums=(2,)))
    assert found.cost.flops < 3 * 2 * 64 * 256 * 256


def test_a_profile_tells_lines():
    found = profile(jitted, W, X)
    assert found.data["memory"]["peak_bytes"] > 0
    assert any(line["function"] == "layers" for line in found.data["lines"])
    assert "alive at most (estimate)" in str(found)
    assert "<img" in found._repr_html_()
