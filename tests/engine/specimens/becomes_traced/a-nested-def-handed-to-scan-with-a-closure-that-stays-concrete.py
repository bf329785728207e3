# a nested def handed to scan, with a closure that stays concrete
import jax.numpy as jnp
from jax import lax

def run(w, c0, ts):
    def body(c, t):
        if w > 1:
            c = c + w * t
        return c, None

    out, _ = lax.scan(body, c0, ts)
    return out

run(2.0, jnp.zeros(()), jnp.arange(3.0))
