# ranges of the arguments of jitted and mapped functions
import jax
import jax.numpy as jnp


@jax.jit
def pair_ids(users, items):
    return users * 60_000 + items  # finding


def cell(row):
    return row * 100_000  # finding


@jax.jit
def small_ids(users, items):
    return users * 60 + items


@jax.jit
def unknown(users):
    return users * 60_000


key = jax.random.key(0)
k1, k2 = jax.random.split(key)
users = jax.random.randint(k1, (8,), 0, 200_000)
items = jax.random.randint(k2, (8,), 0, 60_000)
pair_ids(users, items)
small_ids(users, items)
jax.vmap(cell)(jnp.arange(100_000))


def main(users):
    unknown(users)
