"""Kernels against plain references, in value and gradient: by blocks of queries, and by Pallas, interpreted here."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings

from jaxlint_runtime.kernels.attention_operands import Operands, Spec
from jaxlint_runtime.kernels.implementations import (
    chunked,
    jax_attention,
    pallas_flash,
    plain_definitions,
    small_check,
)
from tests.helpers.drawn_attentions import attentions


@settings(max_examples=4, deadline=None, derandomize=True)
@given(attentions())
def test_blocks_of_queries(drawn):
    operands, spec = drawn
    small_check.checked("chunked", chunked.attention, operands, spec)


def test_blocks_of_queries_when_there_are_many(monkeypatch):
    """More than one block of rows, the last one padded; heads apart; keys hidden by the causal mask left out."""
    monkeypatch.setattr(chunked, "_BLOCK_BYTES", 4 * 60 * 19)
    monkeypatch.setattr(chunked, "_LEAST_CAUSAL", 40)
    monkeypatch.setattr(chunked, "_LEAST_ROWS", 16)
    generator = np.random.default_rng(0)

    def normal(*shape):
        return jnp.asarray(generator.normal(size=shape), jnp.float32)

    mask = jnp.asarray(generator.random((2, 1, 60, 60)) < 0.7).at[..., 0].set(True)
    operands = Operands(
        normal(2, 4, 60, 8), normal(2, 2, 60, 8), normal(2, 2, 60, 8), mask, normal(1, 4, 1, 60)
    )
    for causal in (False, True):
        small_check.checked("chunked", chunked.attention, operands, Spec(0.3, causal))


def test_a_learned_bias_has_its_gradient():
    operands = [jnp.ones((1, 1, 8, 4)) * n for n in (0.1, 0.2, 0.3)]
    values = jnp.arange(32.0).reshape(1, 1, 8, 4)
    bias = jnp.sin(jnp.arange(64.0)).reshape(1, 1, 8, 8)

    def by(attention):
        return jax.grad(
            lambda bias: jnp.sum(attention(Operands(*operands[:2], values, None, bias), Spec(1.0)) ** 2)
        )(bias)

    np.testing.assert_allclose(by(chunked.attention), by(plain_definitions.attention), rtol=1e-4, atol=1e-4)


@pytest.mark.slow
@settings(max_examples=3, deadline=None, derandomize=True)
@given(attentions())
def test_flash_attention(drawn):
    operands, spec = drawn
    small_check.checked(
        "flash", lambda o, s: pallas_flash.attention(o, s, pallas_flash.Blocks(128, 128)), operands, spec
    )


def test_flash_attention_once():
    """Grouped heads, a mask that is broadcast, a cap, lengths that fill no block."""
    generator = np.random.default_rng(0)

    def normal(*shape):
        return jnp.asarray(generator.normal(size=shape), jnp.float32)

    operands = Operands(
        normal(1, 2, 150, 16),
        normal(1, 1, 150, 16),
        normal(1, 1, 150, 8),
        jnp.arange(150)[None, None, None] % 5 > 0,
    )
    small_check.checked("flash", pallas_flash.attention, operands, Spec(0.5, True, 4.0))


def test_splash_attention():
    """Shared keys, a cap, a causal mask."""
    generator = np.random.default_rng(0)

    def normal(*shape):
        return jnp.asarray(generator.normal(size=shape), jnp.float32)

    operands = Operands(normal(1, 2, 256, 128), normal(1, 1, 256, 128), normal(1, 1, 256, 128))
    small_check.checked("splash", jax_attention.splash_attention, operands, Spec(0.1, True, 4.0))


def test_a_wrong_kernel_is_noticed():
    generator = np.random.default_rng(0)
    operands = Operands(*(jnp.asarray(generator.normal(size=(1, 1, 16, 8)), jnp.float32) for _ in range(3)))
    with pytest.raises(small_check.Differs, match="values off by"):
        small_check.checked(
            "wrong", lambda o, s: plain_definitions.attention(o, Spec(0.9)), operands, Spec(1.0)
        )

    def half_the_gradient(o, s):
        result = plain_definitions.attention(o, s)
        return 0.5 * result + 0.5 * jax.lax.stop_gradient(result)

    with pytest.raises(small_check.Differs, match="gradient of the queries off"):
        small_check.checked("wrong", half_the_gradient, operands, Spec(1.0))
