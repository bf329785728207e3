# the same helper with arrays and with numbers
import jax
import jax.numpy as jnp
import math

def clip(value, low, high):
    if isinstance(value, jax.Array):
        return jnp.clip(value, low, high)
    return low if value < low else high if value > high else value

def ceil_div(a, b):
    return -(-a // b)

def pad_to(n, multiple):
    if n % multiple:
        n = ceil_div(n, multiple) * multiple
    return max(n, multiple)

@jax.jit
def f(x):
    n = pad_to(x.shape[0], 4)
    rate = clip(0.5, 0.0, 1.0)
    if rate > 0.1 and math.log2(n) > 1:
        x = jnp.pad(x, (0, n - x.shape[0]))
    return clip(x, 0, 1) * ceil_div(n, 2) + ceil_div(x, 2)

f(jnp.ones(3))
