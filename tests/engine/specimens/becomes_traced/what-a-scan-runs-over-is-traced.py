# what a scan runs over is traced
import jax.numpy as jnp
from jax import lax

def run(c0, ts):
    def body(c, t):
        if t > 1:  # finding: tracer-branch
            c = c + t
        return c, None

    return lax.scan(body, c0, ts)

run(jnp.zeros(()), jnp.arange(3.0))
