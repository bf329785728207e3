# source: jax-ml/jax#2009

import jax
import jax.numpy as jnp


class NoiseSource:
    def __init__(self, seed, shape):
        self.key = jax.random.PRNGKey(seed)
        self.shape = shape

    def draw(self):
        return jax.random.normal(self.key, self.shape)  # finding


class LangevinSampler:
    def __init__(self, energy, step, seed=0):
        self.grad = jax.jit(jax.grad(energy))
        self.step = step
        self.noise = NoiseSource(seed, (4,))

    def run(self, x, n):
        chain = []
        for _ in range(n):
            x = x - self.step * self.grad(x) + (2 * self.step) ** 0.5 * self.noise.draw()  # finding-also
            chain.append(x)
        return jnp.stack(chain)


if __name__ == "__main__":
    s = LangevinSampler(lambda x: jnp.sum(x**2) / 2, 0.1)
    print(s.run(jnp.zeros(4), 5))
