# source: jax-ml/jax#2251
# blind: eighth

import functools

import jax
import jax.numpy as jnp


class Annealer:
    def __init__(self, dim, steps):
        self.x = jnp.linspace(-1.0, 1.0, dim)
        self.steps = steps

    @functools.partial(jax.jit, static_argnums=(0, 2))  # finding-also
    def update(self, x, step):
        temperature = 1.0 / (1.0 + step)
        return x - 0.1 * jnp.sin(3.0 * x) * temperature

    def run(self):
        x = self.x
        for step in range(self.steps):
            x = self.update(x, step)  # finding
        return x


if __name__ == "__main__":
    print(Annealer(4, 6).run())
