# source: PyAutoLabs/PyAutoFit#1636
# blind: eighth

import jax
import jax.numpy as jnp


class Fitness:
    def __init__(self, data):
        self.data = data
        self._call = jax.jit(self.log_likelihood)
        self._vmap = jax.vmap(self._call)  # finding

    def log_likelihood(self, theta):
        model = theta[0] * jnp.exp(-theta[1] * jnp.arange(self.data.shape[0]))
        return -0.5 * jnp.sum((self.data - model) ** 2)

    def search(self, population, iterations):
        for _ in range(iterations):
            scores = self._vmap(population)  # finding-also
            best = population[jnp.argmax(scores)]
            population = 0.5 * (population + best)
        return population


if __name__ == "__main__":
    print(Fitness(jnp.ones(8)).search(jnp.ones((5, 2)), 3))
