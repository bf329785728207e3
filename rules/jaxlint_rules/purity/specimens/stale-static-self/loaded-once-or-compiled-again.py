# loaded before the first call, once if need be, or compiled again
import jax
import jax.numpy as jnp


class Sampler:
    def __init__(self, table):
        self.table = table
        self.draws = jax.jit(self._draws)

    def _draws(self, key):
        return jax.random.categorical(key, self.table, shape=(8,))

    def load(self, table):
        self.table = table


class Compiled:
    def __init__(self, table):
        self.table = table
        self._compile()

    def _compile(self):
        self.draws = jax.jit(self._draws)

    def _draws(self, key):
        return jax.random.categorical(key, self.table, shape=(8,))

    def load(self, table):
        self.table = table
        self._compile()


def main():
    for seed in range(3):
        sampler = Sampler(jnp.zeros(4))
        sampler.load(jnp.arange(4.0) * seed)
        print(sampler.draws(jax.random.key(seed)))
    again = Compiled(jnp.zeros(4))
    for seed in range(3):
        again.load(jnp.arange(4.0) * seed)
        print(again.draws(jax.random.key(seed)))
    lazy, ready = Sampler(jnp.zeros(4)), Sampler(jnp.zeros(4))
    ready.load(jnp.arange(4.0))
    for seed in range(3):
        if lazy.table is None:
            lazy.load(jnp.arange(4.0))
        print(lazy.draws(jax.random.key(seed)), ready.draws(jax.random.key(seed)))


main()
