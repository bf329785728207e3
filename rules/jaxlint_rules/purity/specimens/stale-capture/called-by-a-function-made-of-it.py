# called by its gradient, and by a function around it
import jax
import jax.numpy as jnp


def gradient(batches):
    scale = jnp.ones(3)
    w = jnp.zeros(3)

    @jax.jit
    def loss(w, x):
        def one(row):
            return ((row - w) * scale).sum()  # finding

        return jax.vmap(one)(x).mean()

    slope = jax.value_and_grad(loss)
    for x in batches:
        value, g = slope(w, x)
        w = w - g
        scale = scale * 0.9
    return w


def wrapped(batches):
    shift = jnp.zeros(3)

    @jax.jit
    def move(x):
        return x + shift  # finding

    def run(x):
        return move(x).sum()

    total = 0.0
    for x in batches:
        total += run(x)
        shift = shift + x.mean(axis=0)
    return total


def before_alone(batches):
    scale = jnp.ones(3)
    scale = scale * 2.0

    @jax.jit
    def loss(w, x):
        return ((x - w) * scale).sum()

    slope = jax.value_and_grad(loss)
    w = jnp.zeros(3)
    for x in batches:
        value, g = slope(w, x)
        w = w - g
    scale = scale * 0.5
    return w, scale


def another_function(batches):
    scale = jnp.ones(3)

    @jax.jit
    def loss(w, x, scale):
        return ((x - w) * scale).sum()

    slope = jax.grad(loss)
    w = jnp.zeros(3)
    for x in batches:
        w = w - slope(w, x, scale)
        scale = scale * 0.9
    return w
