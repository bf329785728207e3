# blind: tenth

import dataclasses

import jax
import jax.numpy as jnp


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Stream:
    rng: jax.Array

    def take(self):
        rng, sub = jax.random.split(self.rng)
        return Stream(rng), sub

    def skip(self, n):
        return dataclasses.replace(self, rng=jax.random.fold_in(self.rng, n))


def sample(stream, steps):
    out = []
    for _ in range(steps):
        stream, key = stream.take()
        out.append(jax.random.normal(key, (2,)))
    return stream, jnp.stack(out)


print(sample(Stream(jax.random.key(0)), 3)[1])
