# source: jax-ml/jax#16430

import jax
import jax.numpy as jnp


def valid_terms(terms):
    return [t for t in terms if t > 0.0]  # finding


def log_partition(energies, couplings):
    terms = [jnp.exp(-e) * c for e, c in zip(energies, couplings)]
    kept = valid_terms(terms)
    return jnp.log(sum(kept))


def free_energy(theta, temperature):
    energies = theta * jnp.arange(1.0, 5.0)
    couplings = jnp.cos(theta)[None].repeat(4)
    return -temperature * log_partition(energies, couplings)


heat = jax.jit(jax.vmap(jax.grad(free_energy), in_axes=(None, 0)))


def main():
    print(heat(jnp.array(0.7), jnp.linspace(0.5, 2.0, 5)))


main()
