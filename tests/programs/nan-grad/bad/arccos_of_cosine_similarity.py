# source: jax-ml/jax#15798
# blind: first

import jax
import jax.numpy as jnp


def unit(v):
    return v / jnp.linalg.norm(v + 1e-6)


def geodesic(a, b):
    return jnp.arccos(jnp.clip(jnp.dot(unit(a), unit(b)), -1.0, 1.0))  # finding


def alignment(params, targets):
    return jnp.mean(jax.vmap(geodesic)(params, targets))


def fit(params, targets, n):
    step = jax.jit(lambda p: p - 0.1 * jax.grad(alignment)(p, targets))
    return jax.lax.fori_loop(0, n, lambda _, p: step(p), params)


if __name__ == "__main__":
    x = jnp.eye(3)
    print(fit(x, x, 2))
