# one function that a loop maps twice, and two that it maps once each

import jax
import jax.numpy as jnp


def score(w, x):
    h = jnp.tanh(w @ x)
    h = jnp.tanh(w @ h)
    h = jnp.sin(h) + jnp.cos(h) * jnp.exp(-h)
    return jnp.sum(h * h) / jnp.sqrt(1.0 + jnp.sum(h))


def energy(w, x):
    h = jnp.cos(w @ x)
    h = jnp.cos(w @ h)
    h = jnp.sin(h) + jnp.tanh(h) * jnp.exp(-h)
    return jnp.sum(h * h) / jnp.sqrt(1.0 + jnp.sum(h))


scores = jax.vmap(score, in_axes=(None, 0))
energies = jax.vmap(energy, in_axes=(None, 0))
step = jax.jit(lambda w, x: w - 0.1 * jnp.outer(x[0], x[0]))


def train(w, xs, ys, n):
    for _ in range(n):
        w = step(w, xs)
        a = scores(w, xs)  # finding
        b = scores(w, ys)
        c = energies(w, xs)  # finding
    return w, a.mean(), b.mean(), c.mean()


train(jnp.eye(3), jnp.ones((4, 3)), jnp.ones((5, 3)), 100)
