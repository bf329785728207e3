# source: google/flax#587
# blind: first

import jax
import jax.numpy as jnp


class ExponentialAverage:
    def __init__(self, decay):
        self.decay = decay
        self.steps = 0
        self.apply = jax.jit(self._apply)

    def _apply(self, average, value):
        self.steps += 1  # finding
        debias = 1.0 - self.decay**self.steps
        average = self.decay * average + (1.0 - self.decay) * value
        return average, average / debias


if __name__ == "__main__":
    ema, avg = ExponentialAverage(0.9), jnp.zeros(())
    for v in (1.0, 1.0, 1.0):
        avg, shown = ema.apply(avg, v)
    print(shown)
