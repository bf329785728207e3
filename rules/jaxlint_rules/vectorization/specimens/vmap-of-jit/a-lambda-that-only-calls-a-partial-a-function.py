# a lambda that only calls, a partial, a function that the loop calls

from functools import partial
import jax
import jax.numpy as jnp

@jax.jit
def likelihood(theta, x):
    return -0.5 * jnp.sum((x - theta) ** 2)

def scores(walkers, x):
    return jax.vmap(lambda w: likelihood(w, x))(walkers)  # finding

def sample(walkers, x, n):
    for _ in range(n):
        walkers = walkers + 0.1 * scores(walkers, x)
    return walkers

class Chains:
    def __init__(self, x):
        self.score = jax.vmap(partial(likelihood, x=x))  # finding
        self.fast = jax.jit(jax.vmap(partial(likelihood, x=x)))

    @partial(jax.jit, static_argnums=0)
    def energy(self, walkers):
        return walkers**2

    def relax(self, walkers):
        for _ in range(9):
            walkers = walkers - 0.1 * jax.vmap(self.energy)(walkers)  # finding
        return walkers

    @jax.jit
    def __call__(self, walkers):
        return 2.0 * walkers

    def doubled(self, walkers):
        for _ in range(9):
            walkers = jax.vmap(self)(walkers)  # finding
        return walkers

    def run(self, starts):
        return [self.score(walkers) + self.fast(walkers) for walkers in starts]

def summary(walkers, x):
    return jax.vmap(lambda w: likelihood(w, x))(walkers).max() + jax.vmap(partial(likelihood, x=x))(walkers).max()

@jax.jit
def compiled(walkers, x):
    for _ in range(3):
        walkers = walkers + jax.vmap(lambda w: likelihood(w, x))(walkers)
    return walkers

def main():
    walkers, x = jnp.zeros(16), jnp.ones(10)
    return summary(sample(walkers, x, 100), x), compiled(walkers, x), Chains(x).run(jnp.ones((9, 16)))

main()
