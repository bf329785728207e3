# source: PyAutoLabs/PyAutoFit#1638

import jax
import jax.numpy as jnp


def loglik(theta, data):
    x = jnp.arange(data.shape[0])
    return -0.5 * jnp.sum((data - theta[0] * jnp.exp(-x / theta[1])) ** 2)


batched = jax.jit(jax.vmap(loglik, in_axes=(0, None)))


def search(theta, data, n, key):
    for i in range(n):
        order = jnp.argsort(-batched(theta, data))
        theta = theta[order[: len(theta) // 2]].repeat(2, axis=0)
        theta = theta + 0.1 * jax.random.normal(jax.random.fold_in(key, i), theta.shape)
    return theta[0]


if __name__ == "__main__":
    print(search(jnp.ones((8, 2)), jnp.ones(10), 3, jax.random.key(0)))
