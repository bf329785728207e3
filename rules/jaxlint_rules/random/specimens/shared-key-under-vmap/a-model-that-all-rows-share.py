# a key and a model that all rows share, where the rows are examples; and members that are compared under one key

import jax
import jax.numpy as jnp


def noisy_loss(model, x, t, key):
    noise = jax.random.normal(key, x.shape)
    return jnp.mean((model * (x + t * noise) - noise) ** 2)


@jax.jit
def batch_loss(model, xs, ts, key):
    return jnp.mean(jax.vmap(noisy_loss, in_axes=(None, 0, 0, None))(model, xs, ts, key))  # finding


@jax.jit
def members_loss(models, x, t, key):
    return jax.vmap(noisy_loss, in_axes=(0, None, None, None))(models, x, t, key)


@jax.jit
def own_keys(model, xs, ts, key):
    keys = jax.random.split(key, xs.shape[0])
    return jnp.mean(jax.vmap(noisy_loss, in_axes=(None, 0, 0, 0))(model, xs, ts, keys))


xs, ts = jnp.ones((8, 2)), jnp.ones(8)
jax.grad(batch_loss)(jnp.ones(2), xs, ts, jax.random.key(0))
members_loss(jnp.ones((4, 2)), xs[0], ts[0], jax.random.key(1))
jax.grad(own_keys)(jnp.ones(2), xs, ts, jax.random.key(2))
