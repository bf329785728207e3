# source: patrick-kidger/equinox#1062
# blind: ninth

import equinox as eqx
import jax
import jax.numpy as jnp


class Annealer(eqx.Module):
    position: jax.Array
    temperature: jax.Array
    step: int

    def advance(self, noise):
        scale = self.temperature / (1.0 + self.step)
        return Annealer(self.position + scale * noise, 0.99 * self.temperature, self.step + 1)


@eqx.filter_jit
def propose(annealer, noise):
    moved = annealer.advance(noise)
    return moved, jnp.sum(moved.position**2)


def run(n):
    annealer = Annealer(jnp.zeros(8), jnp.asarray(1.0), 0)
    noise = jax.random.normal(jax.random.key(0), (n, 8))
    for i in range(n):
        annealer, energy = propose(annealer, noise[i])  # finding
    return energy


if __name__ == "__main__":
    print(run(20))
