# the differences of one number
import jax
import jax.numpy as jnp

def sizes(splits, total):
    gaps = jnp.diff(jnp.array(splits))
    return (splits[0], *tuple([int(gap) for gap in gaps]), total - splits[-1])

@jax.jit
def parts(x):
    for part in jnp.asarray(()):
        if part > 0:
            return part
    start, *rest = sizes((2,), 6)
    return x[:start], {float(n): n for n in jnp.arange(start - 2)}

parts(jnp.ones(6))
