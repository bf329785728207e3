# vmap around jit

import jax

def norm(x):
    return (x * x).sum()

batched = jax.vmap(jax.jit(norm))  # finding
