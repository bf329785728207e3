# what is only told beside the loss, or held constant

import jax
import jax.numpy as jnp

def told(p, x):
    return jnp.sum((p - x) ** 2), {"sizes": x / (jnp.sqrt(jnp.sum(p**2)) + 1e-6)}

def held(p, x):
    sizes = x / (jnp.sqrt(jnp.sum(p**2)) + 1e-6)
    return jnp.sum((p - x) ** 2) + jnp.sum(jax.lax.stop_gradient(sizes))

def needed(p, x):
    sizes = x / (jnp.sqrt(jnp.sum(p**2)) + 1e-6)  # finding
    return jnp.sum((p - x) ** 2) + jnp.sum(sizes), {"sizes": sizes}

def main(x):
    p = jnp.array([0.0, 1.0]) if x.size else jnp.zeros(2)
    one = jax.grad(told, has_aux=True)(p, x)
    return one, jax.grad(held)(p, x), jax.grad(needed, has_aux=True)(p, x)

print(main(jnp.zeros(2)))
