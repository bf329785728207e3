# vmap around jit

import jax

def norm(x):
    return (x * x).sum()

batched = jax.jit(jax.vmap(norm))  # finding
