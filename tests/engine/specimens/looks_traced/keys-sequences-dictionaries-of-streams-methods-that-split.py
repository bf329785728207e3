# keys: sequences, dictionaries of streams, methods that split
import jax
import jax.numpy as jnp

class Stream:
    def __init__(self, seed):
        self.key = jax.random.key(seed)

    def next(self):
        self.key, key = jax.random.split(self.key)
        return key

def init(key, sizes):
    params = []
    for n_in, n_out in zip(sizes[:-1], sizes[1:]):
        key, wkey, bkey = jax.random.split(key, 3)
        params.append((jax.random.normal(wkey, (n_in, n_out)), jax.random.normal(bkey, (n_out,))))
    return params

def augment(key, x):
    key_flip, key_shift = jax.random.split(key)
    flip = jax.random.bernoulli(key_flip)
    return jnp.where(flip, x[::-1], x) + jax.random.normal(key_shift, x.shape)

stream = Stream(0)
noise = [jax.random.normal(stream.next()) for _ in range(3)]
params = init(stream.next(), (2, 3, 1))
keys = jax.random.split(stream.next(), 4)
batch = jax.vmap(augment)(keys, jnp.ones((4, 3)))
streams = dict(zip(("params", "dropout"), jax.random.split(stream.next())))
total = jax.random.normal(streams["params"]) + jax.random.normal(streams["dropout"])
for step in range(3):
    step_key = jax.random.fold_in(stream.key, step)
    total = total + jax.random.uniform(step_key)
