# source: poets-ai/elegy#226
# blind: eighth

import jax
import jax.numpy as jnp


def laplacian(u):
    return sum(jnp.roll(u, s, a) for s in (-1, 1) for a in (0, 1)) - 4.0 * u


def step(u, v, dt):
    du = 0.16 * laplacian(u) - u * v**2 + 0.035 * (1 - u)
    dv = 0.08 * laplacian(v) + u * v**2 - 0.1 * v
    return u + dt * du, v + dt * dv


step = jax.jit(step)  # finding


def simulate(n, steps):
    u = jnp.ones((n, n))
    v = jnp.zeros((n, n)).at[n // 2, n // 2].set(1.0)
    for _ in range(steps):
        u, v = step(u, v, 0.5)  # finding-also
    return u, v


if __name__ == "__main__":
    print(simulate(32, 5)[0].mean())
