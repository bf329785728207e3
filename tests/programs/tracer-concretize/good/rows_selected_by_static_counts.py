# source: jax-ml/jax#5454
# blind: third

import jax
import jax.numpy as jnp


class PrefixPool:
    """Sums the first `n` rows of a table, for many `n`."""

    def __init__(self, table):
        self.table = table
        self.longest = table.shape[0]

    def pooled(self, n):
        taken = jnp.arange(self.longest) < n
        return jnp.where(taken[:, None], self.table, 0.0).sum(axis=0)

    def first(self, n):
        return self.table[jnp.arange(n)].sum(axis=0)

    def batch(self, bounds):
        return jax.vmap(self.pooled)(bounds)


def main():
    pool = PrefixPool(jnp.ones((40, 2)))
    print(jnp.stack([pool.first(n) for n in (3, 4)]))
    print(pool.batch(jnp.array([3, 4])))


if __name__ == "__main__":
    main()
