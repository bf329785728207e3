# source: jax-ml/jax#4798

import flax.struct
import jax
import jax.numpy as jnp


@flax.struct.dataclass
class Population:
    genomes: jax.Array
    num_children: int
    sigma: float


def mutate(key, parent, count, sigma):
    noise = jax.random.normal(key, (count, parent.shape[0]))  # finding
    return parent + sigma * noise


@jax.jit
def evolve(key, population, fitness):
    parent = population.genomes[jnp.argmax(fitness)]
    children = mutate(key, parent, population.num_children, population.sigma)
    return population.replace(genomes=children)


def main():
    population = Population(jnp.ones((4, 3)), num_children=4, sigma=0.1)
    for step in range(3):
        fitness = -jnp.sum(population.genomes**2, axis=1)
        population = evolve(jax.random.key(step), population, fitness)
    print(population.genomes)


main()
