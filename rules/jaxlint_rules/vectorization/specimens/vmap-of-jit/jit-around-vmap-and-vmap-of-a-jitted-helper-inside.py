# jit around vmap, and vmap of a jitted helper inside jit

import jax

@jax.jit
def norm(x):
    return (x * x).sum()

batched = jax.jit(jax.vmap(norm))
other = jax.jit(jax.vmap(lambda x: x * 2))

@jax.jit
def total(xs):
    return jax.vmap(norm)(xs).sum()

def once(xs):
    return jax.vmap(norm)(xs)
