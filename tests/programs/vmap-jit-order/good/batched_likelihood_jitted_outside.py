# source: PyAutoLabs/PyAutoFit#1636
# blind: eighth

import jax
import jax.numpy as jnp


class Fitness:
    def __init__(self, data):
        self.data = data
        self.batched = jax.jit(jax.vmap(self.log_likelihood))

    def log_likelihood(self, theta):
        model = theta[0] * jnp.exp(-theta[1] * jnp.arange(self.data.shape[0]))
        return -0.5 * jnp.sum((self.data - model) ** 2)

    def search(self, population, iterations):
        for _ in range(iterations):
            best = population[jnp.argmax(self.batched(population))]
            population = 0.5 * (population + best)
        return population


if __name__ == "__main__":
    print(Fitness(jnp.ones(8)).search(jnp.ones((5, 2)), 3))
