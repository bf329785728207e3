# source: patrick-kidger/equinox#49
# blind: sixth

"""Running normaliser as a flax struct."""
import jax
import jax.numpy as jnp
from flax import struct


@struct.dataclass
class RunningStats:
    mean: jax.Array
    count: jax.Array

    def update(self, x):
        self.count += x.shape[0]  # finding
        self.mean += (x.mean(0) - self.mean) * x.shape[0] / self.count  # finding-also
        return self


@jax.jit
def observe(stats, x):
    stats = stats.update(x)
    return stats, x - stats.mean


if __name__ == "__main__":
    stats = RunningStats(jnp.zeros(3), jnp.float32(0.0))
    for i in range(3):
        stats, centred = observe(stats, jnp.ones((4, 3)) * i)
    print(stats)
