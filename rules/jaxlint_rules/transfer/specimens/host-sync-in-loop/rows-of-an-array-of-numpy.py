# rows of an array of NumPy

import jax
import jax.numpy as jnp
import numpy as np

@jax.jit
def step(x, key):
    return x + jax.random.normal(key, x.shape)

class Chain:
    def __init__(self, n):
        self.x = jnp.zeros(3)
        self.draws = np.zeros((n, 3))

    def run(self, keys):
        for i, key in enumerate(keys):
            self.x = step(self.x, key)
            self.draws[i] = self.x  # finding
        return self.draws

class Record:
    def __init__(self, n):
        self.sums = np.zeros(n)

    def put(self, i, value):
        self.sums[i] = value  # finding

def recorded(x, keys):
    record = Record(len(keys))
    for i, key in enumerate(keys):
        x = step(x, key)
        record.put(i, x)
    return record.sums

def play(env, keys):
    seen, x = np.zeros((len(keys), 3)), jnp.zeros(3)
    for i, key in enumerate(keys):
        x = step(x, key)
        seen[i] = x
        env.step(np.asarray(x))
    return seen

def thinned(keys):
    kept, x = np.zeros((len(keys) // 10 + 1, 3)), jnp.zeros(3)
    for i, key in enumerate(keys):
        x = step(x, key)
        if i % 10 == 0:
            kept[i // 10] = x
    return kept

Chain(10).run(jax.random.split(jax.random.key(0), 10))
recorded(jnp.zeros(()), jax.random.split(jax.random.key(0), 10))
