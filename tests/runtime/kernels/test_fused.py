"""Norms, softmaxes, gated units and products with epilogues are found whatever their spelling, and what looks like them is left alone."""

from __future__ import annotations

import jax
import jax.extend
import jax.numpy as jnp
import numpy as np
import pytest

from jaxlint_runtime.kernels.epilogues import Epilogue
from jaxlint_runtime.kernels.implementations import operand_saving
from jaxlint_runtime.kernels.substitute import evaluate, fused
from tests.helpers.later import given
from tests.runtime import fused_spellings as table

pytestmark = pytest.mark.usefixtures("compiled_quickly")


def staged(function, arguments):
    leaves, structure = jax.tree.flatten(arguments)
    return jax.make_jaxpr(lambda *flat: function(*jax.tree.unflatten(structure, flat)))(*leaves), leaves


def plain(match):
    return operand_saving.epilogue if isinstance(match, Epilogue) else operand_saving.row_wise


@pytest.mark.parametrize("name", table.SPELLINGS)
def test_it_is_found_and_may_be_replaced(name):
    function, arguments, kind, rows = table.SPELLINGS[name]
    jaxpr, leaves = staged(function, given(arguments))
    found = fused(jaxpr)
    assert [(match.spec.kind, match.shape[0]) for match in found.all_layouts()] == [(kind, rows)], jaxpr

    def total(run):
        def summed(*given):
            (result,) = run(*given)
            return jnp.sum(
                result.astype(jnp.float32) * jnp.cos(jnp.arange(result.size)).reshape(result.shape)
            ), result

        return jax.grad(summed, tuple(range(len(leaves))), has_aux=True)

    expected = jax.jit(total(jax.extend.core.jaxpr_as_fun(jaxpr)))(*leaves)
    replaced = jax.jit(total(lambda *given: evaluate(found, given, plain)))(*leaves)
    narrow = any(leaf.dtype == jnp.bfloat16 for leaf in leaves)
    for a, b in zip(jax.tree.leaves(replaced), jax.tree.leaves(expected), strict=True):
        a, b = (np.asarray(x, np.float64) for x in (a, b))
        allowed = (2e-2 if narrow else 1e-5) * (np.linalg.norm(b) + 0.05 * np.sqrt(b.size))
        assert np.linalg.norm(a - b) <= allowed, (a, b)


@pytest.mark.parametrize("name", table.LOOKALIKES)
def test_what_looks_like_it_is_left_alone(name):
    function, arguments = table.LOOKALIKES[name]
    found = fused(staged(function, given(arguments))[0]).all_layouts()
    assert not found, [match.spec.kind for match in found]


def test_the_softmax_of_an_attention_is_no_softmax_alone():
    q = table.normal(2, 4, 8, 16)

    def attention(q):
        return jax.nn.softmax(q @ q.swapaxes(2, 3)) @ q

    assert not fused(jax.make_jaxpr(attention)(q)).all_layouts()
