# a key that is broadcast to all rows
import jax
import jax.numpy as jnp


def member(key):
    return jax.random.normal(key, (3,))


def same(key):
    keys = jnp.broadcast_to(key, (8,))
    return jax.vmap(member)(keys)  # finding


def legacy():
    key = jax.random.PRNGKey(0)
    keys = jnp.broadcast_to(key, (8, 2))
    return jax.vmap(lambda key: jax.random.uniform(key, (3,)))(keys)  # finding


def split(key):
    return jax.vmap(member)(jax.random.split(key, 8))


def columns(x):
    return jax.vmap(jnp.sum)(jnp.broadcast_to(x, (8, 3)))


same(jax.random.key(0))
split(jax.random.key(0))
