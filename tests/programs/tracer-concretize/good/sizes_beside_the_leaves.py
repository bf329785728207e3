# source: jax-ml/jax#14127
# blind: first

import dataclasses

import jax
import jax.numpy as jnp


@jax.tree_util.register_dataclass
@dataclasses.dataclass
class Filter:
    cutoff: jax.Array
    taps: int = dataclasses.field(metadata=dict(static=True))

    def kernel(self):
        n = jnp.arange(self.taps) - (self.taps - 1) / 2
        return jnp.sinc(2 * self.cutoff * n)


@jax.jit
def smooth(f, signal):
    counts = jnp.bincount(jnp.zeros(4, jnp.int32), length=f.taps)
    table = {i: jnp.roll(signal, i) for i in range(f.taps)}
    total = sum(table[i] for i in table)
    return jnp.convolve(signal, f.kernel(), mode="same") + total + counts.sum()


if __name__ == "__main__":
    print(smooth(Filter(jnp.array(0.2), 9), jnp.ones(32)))
