# what is only told beside the loss, or held constant

import jax
import jax.numpy as jnp

def told(p, x):
    return jnp.sum((p - x) ** 2), {"logs": jnp.where(p > 0, jnp.log(p), 0.0)}

def held(p, x):
    logs = jnp.where(p > 0, jnp.log(p), 0.0)
    return jnp.sum((p - x) ** 2) + jnp.sum(jax.lax.stop_gradient(logs))

def needed(p, x):
    logs = jnp.where(p > 0, jnp.log(p), 0.0)  # finding
    return jnp.sum((p - x) ** 2) + jnp.sum(logs), {"logs": logs}

def main(x):
    p = jnp.array([0.0, 1.0]) if x.size else jnp.zeros(2)
    one = jax.grad(told, has_aux=True)(p, x)
    return one, jax.grad(held)(p, x), jax.grad(needed, has_aux=True)(p, x)

print(main(jnp.zeros(2)))
