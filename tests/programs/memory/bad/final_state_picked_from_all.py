# source: jax-ml/jax#1491
# blind: second

import jax
import jax.numpy as jnp


def diffuse(u, _):
    padded = jnp.pad(u, 1, mode="wrap")
    u = u + 0.1 * (padded[2:, 1:-1] + padded[:-2, 1:-1] + padded[1:-1, 2:] + padded[1:-1, :-2] - 4 * u)
    return u, u


@jax.jit
def steady(u):
    _, history = jax.lax.scan(diffuse, u, None, length=500)  # finding
    return history[-1]  # finding-also


if __name__ == "__main__":
    print(steady(jax.random.normal(jax.random.key(0), (64, 64))).std())
