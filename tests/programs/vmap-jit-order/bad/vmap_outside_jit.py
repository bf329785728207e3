# source: jax-ml/jax#2312
# blind: first

import jax
import jax.numpy as jnp


@jax.jit
def energy(x, k):
    d = x[:, None] - x[None]
    return 0.5 * k * jnp.sum(d**2)


def relax_all(replicas, k, iterations):
    force = jax.vmap(jax.grad(energy), in_axes=(0, None))  # finding-also
    for _ in range(iterations):
        replicas = replicas - 1e-3 * force(replicas, k)  # finding
    return replicas


if __name__ == "__main__":
    print(relax_all(jnp.ones((8, 5, 3)), 1.0, 3).shape)
