# a loop over numbers

import jax.numpy as jnp

def energy(w, x):
    h = jnp.tanh(x @ w)
    h = jnp.tanh(h @ w + x)
    h = h - h.mean()
    return jnp.sum(h**2)

def main():
    w, x = jnp.ones((64, 64)), jnp.ones((32, 64))
    total = 0.0
    for i in range(100):  # finding
        total = total + energy(w, x * i)
    return total

main()
