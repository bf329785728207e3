# blind: twenty-first

from functools import partial

import jax
import jax.numpy as jnp


def rastrigin(x):
    return 10.0 * x.shape[-1] + jnp.sum(x ** 2 - 10.0 * jnp.cos(2 * jnp.pi * x), axis=-1)


class Annealer:
    def __init__(self, objective, chains, dim, temperature=10.0, seed=0):
        self.objective = objective
        self.temperature = temperature
        self.key, sub = jax.random.split(jax.random.key(seed))
        self.x = jax.random.uniform(sub, (chains, dim), minval=-4.0, maxval=4.0)

    @partial(jax.jit, static_argnums=0)  # finding-also
    def step(self, x, key):
        k_move, k_accept = jax.random.split(key)
        proposal = x + 0.3 * jax.random.normal(k_move, x.shape)
        delta = self.objective(proposal) - self.objective(x)
        log_u = jnp.log(jax.random.uniform(k_accept, delta.shape))
        accept = log_u < -delta / self.temperature  # finding
        return jnp.where(accept[:, None], proposal, x), accept.mean()

    def sweep(self, steps):
        rate = 0.0
        for _ in range(steps):
            self.key, sub = jax.random.split(self.key)
            self.x, rate = self.step(self.x, sub)  # finding-also
        return rate

    def set_temperature(self, temperature):
        self.temperature = float(temperature)  # finding-also


def main():
    annealer = Annealer(rastrigin, chains=64, dim=2)
    for temperature in (10.0, 3.0, 1.0, 0.3, 0.05):
        annealer.set_temperature(temperature)
        rate = annealer.sweep(150)
        energy = rastrigin(annealer.x)
        print("T", temperature, "accept", float(rate), "mean energy", float(energy.mean()))


if __name__ == "__main__":
    main()
