# a key from outside, and initialisation

import jax

@jax.jit
def noisy(x, key):
    return x + jax.random.normal(key, x.shape)

@jax.jit
def folded(x, step):
    key = jax.random.fold_in(jax.random.key(0), step)
    return x + jax.random.normal(key, x.shape)

@jax.jit
def named(x, step):
    root = jax.random.key(0)
    return x + jax.random.normal(jax.random.fold_in(root, step), x.shape)

@jax.jit
def handed_on(x, model):
    key = jax.random.key(0)
    return model(x, key)

@jax.jit
def init_params(x):
    return jax.random.normal(jax.random.key(0), x.shape)

KEY = jax.random.key(0)

@jax.jit
def init_table(x):
    return jax.random.normal(KEY, x.shape)

table = jax.jit(lambda: jax.random.normal(KEY, (8, 8)))()

def shifted(x, key):
    shift = jax.random.normal(key, x.shape)
    return jax.jit(lambda x: x + shift)(x)

@jax.jit
def by_step(x, step):
    return x + jax.random.normal(jax.random.fold_in(KEY, step), x.shape)

def main(x):
    return noisy(x, jax.random.key(0))
