# read, bound, meant to be unused

import functools
import jax
import jax.numpy as jnp

def loss(params, x, unused):
    return jnp.mean((x @ params) ** 2)

def bound(x, params):
    return jnp.mean((x @ params) ** 2)

def step(params, x):
    a = jax.grad(loss)(params, x, None)
    b = jax.grad(loss, argnums=1)(params, x, None)
    c = jax.grad(functools.partial(bound, x))(params)
    d = jax.grad(lambda _: jnp.sum(x))(params)
    return a, b, c, d
