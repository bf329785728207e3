# what the branches make of an operand

import jax
import jax.numpy as jnp
from jax import lax

def f(ok, x):
    a = lax.cond(ok, lambda v: v.sum(), lambda v: v, jnp.ones(3))  # finding
    b = lax.switch(1, [lambda v: v[::2], lambda v: v], jnp.ones(6))  # finding
    c = lax.cond(ok, lambda v: (v, 1.0), lambda v: v, x)  # finding
    d = lax.cond(ok, lambda v: jnp.append(v, 0.0), lambda v: v, jnp.sin(x))  # finding
    e = lax.cond(ok, lambda v: v.mean(axis=1), lambda v: v @ jnp.ones(2), jnp.ones((3, 2)))
    g = lax.cond(ok, lambda v: jnp.append(v[1:], 0.0), lambda v: v, jnp.sin(x))
    h = lax.cond(ok, lambda v: v[:3], lambda v: v, x)
    i = lax.switch(2, [lambda v: 1, lambda v: 0.5 * v, lambda v: jnp.cos(v)], x)  # finding
    j = lax.switch(2, [lambda v: 1.0, lambda v: 0.5 * v], x)
    k = lax.switch(2, [lambda v: 1, lambda v: 2 * v], x)
    l = lax.cond(ok, lambda v: v.sum(axis=0), lambda v: v, jnp.sin(x))  # finding
    m = lax.cond(ok, lambda v: jnp.max(v, axis=-1, keepdims=True), lambda v: v, jnp.sin(x))
    n = lax.cond(ok, lambda v: v.sum(), lambda v: v, jnp.sin(x))
    o = lax.cond(ok, lambda v: v.mean(axis=0), lambda v: v[0], jnp.sin(x))
    return a, b, c, d, e, g, h, i, j, k, l, m, n, o

@jax.jit
def pool(ok, x, axis):
    a = lax.cond(ok, lambda v: v.mean(axis=0), lambda v: v.max(axis=0, keepdims=True), x)  # finding
    b = lax.cond(ok, lambda v: jnp.sum(jnp.exp(v), -1), lambda v: jnp.sqrt(v), x)  # finding
    c = lax.cond(ok, lambda v: v.mean(axis=0), lambda v: v.max(axis=1), x)
    d = lax.cond(ok, lambda v: v.sum(keepdims=True), lambda v: jnp.exp(v), x)
    e = lax.cond(ok, lambda v: v.sum(axis=axis), lambda v: jnp.exp(v), x)
    g = lax.cond(ok, lambda v: jnp.expand_dims(v.max(axis=0), 0), lambda v: v.max(axis=0, keepdims=True), x)
    return a, b, c, d, e, g
