"""Attention is found whatever its spelling, what looks like it is left alone, and what is put in its place computes the same."""

from __future__ import annotations

import jax
import jax.extend
import jax.numpy as jnp
import numpy as np
import pytest

from jaxlint_runtime.kernels.implementations import chunked
from jaxlint_runtime.kernels.substitute import evaluate, matches
from tests.helpers.later import given
from tests.runtime import attention_spellings as table

pytestmark = pytest.mark.usefixtures("compiled_quickly")


def staged(function, arguments):
    leaves, structure = jax.tree.flatten(given(arguments))
    jaxpr, shape = jax.make_jaxpr(
        lambda *flat: function(*jax.tree.unflatten(structure, flat)), return_shape=True
    )(*leaves)
    return jaxpr, leaves, jax.tree.structure(shape)


def floating(leaves):
    return [n for n, leaf in enumerate(leaves) if jnp.issubdtype(leaf.dtype, jnp.floating)]


# Gradients take long to compile; one spelling of each feature has them compared.
GRADIENTS = [
    "einsum_and_softmax",
    "keys_before_queries",
    "merged_batch",
    "divided_after_the_product",
    "by_log_softmax",
    "float32_softmax",
    "temperature_by_head",
    "capped_scores",
    "causal_and_padding",
    "mask_of_softmax",
    "relative_position_bias",
    "grouped_queries",
    "one_head_of_keys",
    "vmapped_over_inner_axes",
    "scanned",
    "checkpointed",
    "linen_causal",
]


def values_and_gradients(run, leaves, differentiated):
    """What a flat function returns, and the gradients of a weighted sum of it by all floating arguments."""
    if not differentiated:
        return run(*leaves)
    chosen = floating(leaves)

    def total(given):
        filled = list(leaves)
        for n, leaf in zip(chosen, given, strict=True):
            filled[n] = leaf
        results = run(*filled)
        weighted = [
            jnp.sum(x.astype(jnp.float32) * jnp.cos(jnp.arange(x.size)).reshape(x.shape)) for x in results
        ]
        return sum(weighted), results

    (_, results), gradients = jax.jit(jax.value_and_grad(total, has_aux=True))([leaves[n] for n in chosen])
    return [*results, *gradients]


def close(found, expected):
    """Each within rounding, of its own norm or of what all of them are: the gradient of a key's bias is noise."""
    wide = [[np.asarray(x, np.float64) for x in part] for part in (found, expected)]
    whole = max(np.linalg.norm(b) / np.sqrt(b.size) for b in wide[1])
    allowed = 3e-2 if any(x.dtype == jnp.bfloat16 for x in expected) else 2e-5
    for a, b in zip(*wide, strict=True):
        assert a.shape == b.shape
        assert np.linalg.norm(a - b) <= allowed * (np.linalg.norm(b) + 0.1 * whole * np.sqrt(b.size)), (a, b)


@pytest.mark.parametrize("name", table.SPELLINGS)
def test_it_is_found_and_may_be_replaced(name):
    function, arguments = table.SPELLINGS[name]
    jaxpr, leaves, _ = staged(function, arguments)
    found = matches(jaxpr)
    assert found.all_layouts(), (found.all_near(), jaxpr)
    assert ("causal" in name) <= all(layout.spec.causal for layout in found.all_layouts())
    differentiated = name in GRADIENTS
    original = jax.extend.core.jaxpr_as_fun(jaxpr)
    expected = values_and_gradients(original, leaves, differentiated)
    replaced = []

    def choose(layout):
        replaced.append(layout)
        return chunked.attention

    close(values_and_gradients(lambda *flat: evaluate(found, flat, choose), leaves, differentiated), expected)
    assert replaced


@pytest.mark.parametrize("name", table.LOOKALIKES)
def test_what_looks_like_it_is_left_alone(name):
    found = matches(staged(*table.LOOKALIKES[name])[0])
    assert not found.all_layouts(), [layout.attention.place for layout in found.all_layouts()]


def test_the_table_is_as_large_as_is_claimed():
    assert len(table.SPELLINGS) >= 24
    assert len(table.LOOKALIKES) >= 12
