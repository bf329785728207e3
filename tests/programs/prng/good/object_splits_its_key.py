# source: jax-ml/jax#2009

import jax
import jax.numpy as jnp


class KeySource:
    def __init__(self, seed):
        self.key = jax.random.key(seed)

    def next(self):
        self.key, sub = jax.random.split(self.key)
        return sub


class Sampler:
    def __init__(self, seed):
        self.keys = KeySource(seed)

    def run(self, x, n):
        out = []
        for _ in range(n):
            x = 0.9 * x + 0.1 * jax.random.normal(self.keys.next(), x.shape)
            out.append(x)
        return jnp.stack(out)


if __name__ == "__main__":
    print(Sampler(0).run(jnp.zeros(2), 4))
