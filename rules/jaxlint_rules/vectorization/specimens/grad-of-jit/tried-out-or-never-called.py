# a loop that the program tries out, and one in a script that never runs it

import jax
import jax.numpy as jnp

@jax.jit
def energy(x):
    return jnp.sum(x**2)

def relax(x, n):
    for _ in range(n):
        x = x - 0.1 * jax.grad(energy)(x)
    return x

def unused(x, n):
    for _ in range(n):
        x = x - 0.1 * jax.grad(energy)(x)
    return x

if __name__ == "__main__":
    print(relax(jnp.ones(3), 2))
