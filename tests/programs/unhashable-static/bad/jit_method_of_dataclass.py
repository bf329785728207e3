# source: jax-ml/jax#17197

import dataclasses
import functools

import jax
import jax.numpy as jnp


@dataclasses.dataclass
class Smoother:
    width: int
    decay: float = 0.9

    @functools.partial(jax.jit, static_argnums=0)
    def smooth(self, x):
        window = self.decay ** jnp.arange(self.width)
        return jnp.convolve(x, window / window.sum(), mode="same")


def pipeline(signals, smoother):
    return [smoother.smooth(s) for s in signals]  # finding


def main():
    smoother = Smoother(5)
    signals = [jnp.ones(20), jnp.arange(20.0)]
    print([s.sum() for s in pipeline(signals, smoother)])


main()
