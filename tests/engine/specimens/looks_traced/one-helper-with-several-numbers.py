# one helper with several numbers
import jax
import jax.numpy as jnp

def dropout(key, x, rate, train):
    if not train or rate == 0.0:
        return x
    return jnp.where(jax.random.bernoulli(key, 1 - rate, x.shape), x / (1 - rate), 0)

def pool(x, size):
    if size == 16:
        return x.shape[0]
    return x.sum()

@jax.jit
def f(key, x):
    if pool(x, 16) > 1:
        x = x + pool(x, 32)
    return dropout(key, x, 0.5, True) + dropout(key, x, 0.0, True)

f(jax.random.key(0), jnp.ones(3))
