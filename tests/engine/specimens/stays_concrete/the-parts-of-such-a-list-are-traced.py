# the parts of such a list are traced
import jax
import jax.numpy as jnp

@jax.jit
def f(x):
    sign, logdet = jnp.linalg.slogdet(x)
    if logdet > 0:  # finding: tracer-branch
        return sign
    return -sign

f(jnp.eye(3))
