# source: jax-ml/jax#8189
# blind: first

import jax
import jax.numpy as jnp


def init(key, sizes):
    keys = iter(jax.random.split(key, len(sizes)))
    return [jax.random.normal(next(keys), s) for s in sizes]


class Stream:
    def __init__(self, seed):
        self._key = jax.random.key(seed)

    def __call__(self):
        self._key, sub = jax.random.split(self._key)
        return sub


def anneal(key, x, n):
    def body(carry, i):
        key, x = carry
        sub = jax.random.fold_in(key, i)
        return (key, x + jax.random.normal(sub, x.shape)), x.sum()

    return jax.lax.scan(body, (key, x), jnp.arange(n))


if __name__ == "__main__":
    stream = Stream(0)
    ws = init(stream(), [(2, 3), (3,)])
    for _ in range(3):
        print(jax.random.uniform(stream(), (2,)), anneal(stream(), ws[1], 4)[1])
