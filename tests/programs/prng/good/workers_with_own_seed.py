# source: jax-ml/jax#2009

import jax
import jax.numpy as jnp


class Worker:
    def __init__(self, key):
        self.key = key

    def rollout(self, n):
        self.key, sub = jax.random.split(self.key)
        return jax.random.normal(sub, (n,))


def collect(seed, n_workers, n):
    workers = [Worker(k) for k in jax.random.split(jax.random.key(seed), n_workers)]
    return jnp.stack([w.rollout(n) for w in workers])


if __name__ == "__main__":
    print(collect(0, 4, 3))
