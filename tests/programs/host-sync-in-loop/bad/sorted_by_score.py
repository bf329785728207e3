# source: qdax#1

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def fitness(pop):
    return -jnp.sum(pop**2, -1)


def evolve(pop, n):
    rng = np.random.default_rng(0)
    for _ in range(n):
        order = np.argsort(fitness(pop))[::-1]  # finding
        elite = pop[order[: len(pop) // 2]]
        pop = np.repeat(elite, 2, axis=0) + 0.1 * rng.normal(size=pop.shape)
    return pop[0]


if __name__ == "__main__":
    print(evolve(np.ones((8, 2)), 5))
