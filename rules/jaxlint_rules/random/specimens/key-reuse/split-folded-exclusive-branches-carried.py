# split, folded, exclusive branches, carried

import jax

def init(key, n, kind):
    if kind == "normal":
        return jax.random.normal(key, (n,))
    return jax.random.uniform(key, (n,))

def main(seed, batches):
    key = jax.random.key(seed)
    key, sub = jax.random.split(key)
    w = init(sub, 3, "normal")
    for i, batch in enumerate(batches):
        key, sub = jax.random.split(key)
        w = w + jax.random.normal(sub, batch.shape)
        w = w + jax.random.normal(jax.random.fold_in(key, i), batch.shape)
    key, sub = jax.random.split(key)
    inputs = jax.random.permutation(sub, batches)
    labels = jax.random.permutation(sub, batches)
    key, sub = jax.random.split(key)
    columns = [jax.random.permutation(sub, column) for column in (inputs, labels)]
    keys = jax.random.split(key, 3)
    a = jax.random.normal(keys[0])
    b = jax.random.normal(keys[1])
    draws = [jax.random.normal(k) for k in jax.random.split(keys[2], 4)]
    return w, a, b, draws, inputs, labels, columns

class Noise:
    def __init__(self, key):
        self.values = jax.random.normal(key, (3,))

def of_kind(kind, key):
    noise = None
    if kind == "one":
        noise = Noise(key)
    if kind == "other":
        noise = Noise(key)
    return noise

def two_draws(x, first, second):
    return x + jax.random.normal(first, x.shape) + jax.random.uniform(second, x.shape)

def spread(arguments, n):
    return [two_draws(*[argument[i] for argument in arguments]) for i in range(n)]

def carried(key, xs):
    def body(carry, x):
        key, total = carry
        key, sub = jax.random.split(key)
        return (key, total + x * jax.random.normal(sub)), None
    return jax.lax.scan(body, (key, 0.0), xs)
