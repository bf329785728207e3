# blind: ninth

import equinox as eqx
import jax
import jax.numpy as jnp


class Annealer(eqx.Module):
    position: jax.Array
    step: jax.Array
    schedule: str = "linear"

    def advance(self, noise):
        return Annealer(self.position + noise / (1.0 + self.step), self.step + 1, self.schedule)


@eqx.filter_jit
def propose(annealer, noise):
    moved = annealer.advance(noise)
    return moved, jnp.sum(moved.position**2)


def run(n):
    annealer = Annealer(jnp.zeros(8), jnp.asarray(0))
    noise = jax.random.normal(jax.random.key(0), (n, 8))
    for i in range(n):
        annealer, energy = propose(annealer, noise[i])
    return energy


if __name__ == "__main__":
    print(run(20))
