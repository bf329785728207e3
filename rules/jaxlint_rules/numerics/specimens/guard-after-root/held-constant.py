# a norm that the gradient does not go through, since it is held constant

import jax
import jax.numpy as jnp


def held(t, eps=1e-12):
    norm = jax.lax.stop_gradient(jnp.clip(jnp.linalg.norm(t, axis=-1, keepdims=True), eps))
    return t / norm


def kept(t, eps=1e-12):
    return t / jnp.clip(jnp.linalg.norm(t, axis=-1, keepdims=True), eps)  # finding


def loss(w, x):
    return jnp.mean(held(x @ w) + kept(x @ w))


step = jax.jit(jax.grad(loss))
step(jnp.ones((3, 3)), jnp.ones((2, 3)))
