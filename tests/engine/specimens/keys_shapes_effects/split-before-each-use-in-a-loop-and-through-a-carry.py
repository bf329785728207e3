# split before each use, in a loop and through a carry
import jax
from jax import lax

def sample(rng, n):
    values = []
    for _ in range(n):
        rng, key = jax.random.split(rng)
        values.append(jax.random.normal(key))
    return values

def scanned(rng):
    def body(rng, _):
        rng, key = jax.random.split(rng)
        return rng, jax.random.uniform(key)

    return lax.scan(body, rng, None, length=3)

def parts(rng):
    keys = jax.random.split(rng, 3)
    a = jax.random.normal(keys[0])
    b = jax.random.normal(keys[1])
    rest = [jax.random.normal(k) for k in keys]
    return a + b, len(rest)

sample(jax.random.key(0), 3)
scanned(jax.random.key(1))
