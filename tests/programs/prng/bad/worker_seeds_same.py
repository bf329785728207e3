# source: jax-ml/jax#2009

import jax
import jax.numpy as jnp


class Worker:
    def __init__(self, seed=0):
        self.key = jax.random.key(seed)

    def rollout(self, n):
        self.key, sub = jax.random.split(self.key)
        return jax.random.normal(sub, (n,))


def collect(n_workers, n):
    workers = [Worker() for _ in range(n_workers)]  # finding
    return jnp.stack([w.rollout(n) for w in workers])


if __name__ == "__main__":
    print(collect(4, 3))
