# source: jax-ml/jax#17197

import dataclasses
import functools

import jax
import jax.numpy as jnp


@dataclasses.dataclass(frozen=True)
class Smoother:
    width: int
    decay: float = 0.9

    @functools.partial(jax.jit, static_argnums=0)
    def smooth(self, x):
        window = self.decay ** jnp.arange(self.width)
        return jnp.convolve(x, window / window.sum(), mode="same")


@dataclasses.dataclass(eq=False)
class Registry:
    names: list

    @functools.partial(jax.jit, static_argnums=0)
    def count(self, x):
        return x * len(self.names)


@functools.partial(jax.jit, static_argnames="sizes")
def init(key, sizes):
    keys = jax.random.split(key, len(sizes) - 1)
    return [jax.random.normal(k, (m, n)) for k, m, n in zip(keys, sizes[:-1], sizes[1:])]


def main():
    hidden = [64, 64]
    layers = init(jax.random.key(0), sizes=tuple([8] + hidden + [1]))
    print(Smoother(5).smooth(jnp.ones(20)).sum(), Registry(["a", "b"]).count(1.0), len(layers))


main()
