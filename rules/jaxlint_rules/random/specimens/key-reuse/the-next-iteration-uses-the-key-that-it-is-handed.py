# a scan draws from the key that it hands on, and the next step splits it

import jax
import jax.numpy as jnp


def sample_path(key, x0, n):
    def body(carry, _):
        x, key = carry
        key, sub = jax.random.split(key)  # finding
        x = x + jax.random.normal(key, x.shape)
        return (x, key), x

    (x, _), xs = jax.lax.scan(body, (x0, key), None, length=n)
    return xs


def right_path(key, x0, n):
    def body(carry, _):
        x, key = carry
        key, sub = jax.random.split(key)
        x = x + jax.random.normal(sub, x.shape)
        return (x, key), x

    (x, _), xs = jax.lax.scan(body, (x0, key), None, length=n)

    def folded(i, state):
        x, key = state
        x = x + jax.random.normal(jax.random.fold_in(key, i), x.shape)
        return x, key

    return jax.lax.fori_loop(0, n, folded, (x, jax.random.fold_in(key, 1))), xs
