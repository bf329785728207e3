# blind: twenty-first

from functools import partial

import jax
import jax.numpy as jnp


def double_well(x):
    return jnp.sum((x ** 2 - 1.0) ** 2, axis=-1)


class Sampler:
    def __init__(self, energy, temperature):
        self.energy = energy
        self.temperature = temperature

    def _spec(self):
        return (self.energy, self.temperature)

    def __hash__(self):
        return hash(self._spec())

    def __eq__(self, other):
        return isinstance(other, Sampler) and self._spec() == other._spec()

    def at(self, temperature):
        return Sampler(self.energy, temperature)

    @partial(jax.jit, static_argnums=(0, 3))
    def run(self, x, key, steps):
        def body(x, key_t):
            k1, k2 = jax.random.split(key_t)
            prop = x + 0.4 * jax.random.normal(k1, x.shape)
            delta = self.energy(prop) - self.energy(x)
            accept = jnp.log(jax.random.uniform(k2, delta.shape)) < -delta / self.temperature
            return jnp.where(accept[:, None], prop, x), accept.mean()

        return jax.lax.scan(body, x, jax.random.split(key, steps))


def main():
    sampler = Sampler(double_well, 4.0)
    x = jnp.zeros((256, 2))
    key = jax.random.key(0)
    energies = []
    for temperature in (4.0, 1.0, 0.25, 0.05):
        sampler = sampler.at(temperature)
        key, sub = jax.random.split(key)
        x, rates = sampler.run(x, sub, 200)
        energies.append(float(double_well(x).mean()))
        print("T", temperature, "accept", float(rates.mean()), "energy", energies[-1])
    assert energies == sorted(energies, reverse=True)


if __name__ == "__main__":
    main()
