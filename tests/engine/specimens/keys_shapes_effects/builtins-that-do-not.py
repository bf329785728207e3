# builtins that do not
import jax
import jax.numpy as jnp

@jax.jit
def f(x, y):
    z = abs(x) + sum([x, y]) + round(x) + pow(x, 2) + divmod(x, 2)[0]
    return z + max(x.shape[0], 2) + min(len(x), 3) + sum(x)

f(jnp.ones(3), jnp.ones(3))
