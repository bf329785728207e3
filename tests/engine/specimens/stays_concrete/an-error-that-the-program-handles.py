# an error that the program handles
import jax
import jax.numpy as jnp

def positive(x):
    try:
        return bool(x > 0)
    except jax.errors.TracerBoolConversionError:
        return None

@jax.jit
def f(x):
    if positive(x) is None:
        return x
    return -x

f(jnp.ones(()))
