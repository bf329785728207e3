# defaults that are no keys, and keys that are made at each call

import jax


def sample(n, key=None, seed=0):
    key = jax.random.key(seed) if key is None else key
    return jax.random.normal(key, (n,))


def main(run=lambda: jax.random.key(0)):
    key = jax.random.key(1)
    return sample(3, key=key), sample(3, key=jax.random.key(2)), run()


def supply_rng(f, rng=jax.random.PRNGKey(0)):
    def wrapped(*args):
        nonlocal rng
        rng, key = jax.random.split(rng)
        return f(*args, rng=key)

    return wrapped
