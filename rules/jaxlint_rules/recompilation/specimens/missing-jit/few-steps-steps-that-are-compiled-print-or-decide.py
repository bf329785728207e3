# few steps, steps that are compiled, print or decide, compiled loops

import jax
import jax.numpy as jnp

def laplacian(u):
    return jnp.roll(u, 1) - 2.0 * u + jnp.roll(u, -1)

def step(u):
    u = u + 0.1 * laplacian(u)
    return u.at[0].set(0.0).at[-1].set(0.0)

fast = jax.jit(step)

def few(u):
    for _ in range(8):
        u = u + 0.1 * laplacian(u)
        u = u.at[0].set(0.0)
    return u

def stepped(u):
    for _ in range(500):
        u = fast(u)
    return u

def followed(u):
    means = []
    for _ in range(500):
        u = fast(u)
        means.append(jnp.sqrt(jnp.mean((u - jnp.mean(u)) ** 2)) / (1.0 + jnp.abs(u).max()))
    return means

def told(u):
    for i in range(500):
        u = u + 0.1 * laplacian(u)
        u = u.at[0].set(0.0)
        print(i, u.max())
    return u

def until(u):
    for _ in range(500):
        u = u + 0.1 * laplacian(u)
        u = u.at[0].set(0.0)
        if u.max() < 0.1:
            break
    return u

@jax.jit
def whole(u):
    return jax.lax.fori_loop(0, 500, lambda _, u: step(u), u)

if __name__ == "__main__":
    u = jnp.ones(100)
    print(few(u), stepped(u), followed(u), told(u), until(u), whole(u))
