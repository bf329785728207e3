# source: PyAutoLabs/PyAutoFit#1638

import jax
import jax.numpy as jnp
import numpy as np


class Fitness:
    def __init__(self, data, noise):
        self.data, self.noise = data, noise
        self.batched = jax.vmap(jax.jit(self.call))  # finding

    def call(self, theta):
        x = jnp.arange(self.data.shape[0])
        model = theta[0] * jnp.exp(-0.5 * ((x - theta[1]) / theta[2]) ** 2)
        return -0.5 * jnp.sum(((self.data - model) / self.noise) ** 2)

    def search(self, n_rounds, seed=0):
        rng = np.random.default_rng(seed)
        live = jnp.asarray(rng.uniform(1, 5, size=(32, 3)))
        for _ in range(n_rounds):
            scores = self.batched(live)  # finding-also
            live = live[jnp.argsort(-scores)[:16]].repeat(2, axis=0)
            live = live + 0.1 * rng.normal(size=live.shape)
        return live[0]


if __name__ == "__main__":
    print(Fitness(jnp.ones(20), 0.1).search(5))
