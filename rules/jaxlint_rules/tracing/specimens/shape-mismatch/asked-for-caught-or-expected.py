# asked for, caught or expected

import jax.numpy as jnp
import pytest

def apply(w, x):
    if x.shape[-1] != w.shape[-1]:
        x = x.T
    return x @ w.T

apply(jnp.ones((3, 5)), jnp.ones((5, 2)))

def added(a, b):
    if len(a) == len(b):
        return a + b
    return a

added(jnp.ones(3), jnp.ones(4))

def fits(a, b):
    try:
        return a + b
    except (TypeError, ValueError):
        return None

fits(jnp.ones(3), jnp.ones(4))

def test_mismatch():
    with pytest.raises(TypeError):
        jnp.ones((2, 3)) @ jnp.ones((4, 5))
