# source: jax-ml/jax#654
# blind: second

import jax
import jax.numpy as jnp


class SpringNetwork:
    def __init__(self, edges, rest):
        self.edges, self.rest = edges, rest

    def lengths(self, x):
        return jnp.linalg.norm(x[:, None, :] - x[None, :, :], axis=-1)  # finding

    def energy(self, x):
        stretch = self.lengths(x) - self.rest
        return 0.5 * jnp.sum(jnp.where(self.edges, stretch**2, 0.0))


def relax(network, x, steps):
    force = jax.jit(jax.grad(network.energy))
    for _ in range(steps):
        x = x - 0.1 * force(x)
    return x


if __name__ == "__main__":
    edges = jnp.ones((4, 4), bool) ^ jnp.eye(4, dtype=bool)
    start = jax.random.normal(jax.random.key(0), (4, 2))
    print(relax(SpringNetwork(edges, 1.0), start, 3))
