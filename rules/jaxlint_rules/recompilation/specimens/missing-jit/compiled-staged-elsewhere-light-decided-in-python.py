# compiled, staged elsewhere, light, decided in Python, outside of loops

import jax
import jax.numpy as jnp

@jax.jit
def compiled(w, x):
    h = jnp.tanh(x @ w)
    h = jnp.tanh(h @ w + x)
    return jnp.sum((h - h.mean()) ** 2)

def energy(w, x):
    h = jnp.tanh(x @ w)
    h = jnp.tanh(h @ w + x)
    return jnp.sum((h - h.mean()) ** 2)

gradient = jax.jit(jax.grad(energy))

def light(x):
    return x * 2 + 1

def decided(x):
    h = jnp.tanh(x * 2 + 1)
    h = jnp.exp(h - h.max())
    if h.sum() > 1:
        h = h / h.sum()
    return jnp.sin(h) * 2

def once(x):
    h = jnp.tanh(x * 2 + 1)
    h = jnp.exp(h - h.max())
    return jnp.sin(h) * 2

def main():
    w, x = jnp.ones((64, 64)), jnp.ones((32, 64))
    for i in range(100):
        x = x - compiled(w, x) - energy(w, x) - light(x) - decided(x)
        w = w - gradient(w, x)
    return once(x)

main()
