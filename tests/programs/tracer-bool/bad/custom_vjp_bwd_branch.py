# source: jax-ml/jax#16430

import functools

import jax
import jax.numpy as jnp


@functools.partial(jax.custom_vjp, nondiff_argnums=(1,))
def clipped_identity(x, limit):
    return x


def _fwd(x, limit):
    return x, None


def _bwd(limit, _, g):
    norm = jnp.linalg.norm(g)
    if norm > limit:  # finding
        g = g * (limit / norm)
    return (g,)


clipped_identity.defvjp(_fwd, _bwd)


def rnn_loss(params, inputs, target):
    def cell(h, x):
        h = jnp.tanh(params["w"] @ clipped_identity(h, 1.0) + params["u"] @ x)
        return h, None

    h, _ = jax.lax.scan(cell, jnp.zeros(4), inputs)
    return jnp.sum((h - target) ** 2)


grad_fn = jax.jit(jax.grad(rnn_loss))
params = {"w": 0.3 * jnp.eye(4), "u": jnp.ones((4, 2))}
print(grad_fn(params, jnp.ones((12, 2)), jnp.zeros(4)))
