# formatting a tracer with a precision
import jax
import jax.numpy as jnp

@jax.jit
def f(x):
    label = f"{x:.3f}"  # finding: tracer-concretization
    return x, len(label)

f(1.0)
