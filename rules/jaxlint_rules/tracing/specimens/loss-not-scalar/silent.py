# look-alikes: aux that is declared, settings that decide, jacobians, a test that expects the error
from functools import partial

import jax
import jax.numpy as jnp
import pytest


def loss_fn(params, x, return_aux=False):
    loss = jnp.sum(params * x)
    if return_aux:
        return loss, x
    return loss


def pair(params, x):
    return jnp.sum(params * x), {"x": x}


def nested(params, x):
    return jnp.sum(params * x), (x, params)


def vector(params, x):
    return params * x


def flagged(params, x, flag):
    return (jnp.sum(params), x) if flag else jnp.sum(params)


@partial(jax.grad, has_aux=True)
def aux_grad(params, x):
    return jnp.sum(params * x), x


def tuned(params, x, has_aux):
    return jax.value_and_grad(pair if has_aux else loss_fn, has_aux=has_aux)(params, x)


def main(config):
    params, x = jnp.ones(3), jnp.ones(3)
    jax.grad(loss_fn)(params, x)
    jax.grad(pair, has_aux=True)(params, x)
    jax.value_and_grad(nested, has_aux=True)(params, x)
    jax.grad(lambda p: pair(p, x)[0])(params)
    jax.grad(pair, **config)(params, x)
    jax.grad(pair, 0, True)(params, x)
    partial(jax.grad, has_aux=True)(pair)(params, x)
    jax.grad(flagged)(params, x, bool(config))
    aux_grad(params, x)
    jax.jacobian(vector)(params, x)
    jax.vmap(jax.grad(loss_fn))(jnp.ones((4, 3)), jnp.ones((4, 3)))
    jax.vmap(jax.grad(lambda p, q: p * q))(params, x)
    jax.grad(lambda p: vector(p, x).sum())(params)
    tuned(params, x, True)


def test_of_the_error():
    with pytest.raises(TypeError):
        jax.grad(pair)(jnp.ones(3), jnp.ones(3))
