# a jitted function, mapped and called in a loop

import jax
import jax.numpy as jnp

@jax.jit
def norm(x):
    return (x * x).sum()

norms = jax.vmap(norm)  # finding
compiled = jax.jit(jax.vmap(norm))

def rescale(batches):
    return [batch / norms(batch)[:, None] for batch in batches]

def shrink(x, steps):
    for _ in range(steps):
        x = x * jax.vmap(norm)(x)[:, None] * compiled(x)[:, None]  # finding
    return x

@jax.jit
def loss(w, x):
    return jnp.tanh(w * x).sum()

def plain(w, x):
    return jnp.tanh(w * x).sum()

gradients = jax.vmap(jax.grad(loss), in_axes=(None, 0))  # finding
fast = jax.jit(jax.vmap(jax.grad(loss), in_axes=(None, 0)))

def fisher(w, batches):
    total = 0.0
    for batch in batches:
        total = total + jnp.sum(gradients(w, batch) ** 2, axis=0) + fast(w, batch)
    return total
