# source: noegroup/ScoreMD#7

from functools import partial

import jax
import jax.numpy as jnp


def lorenz(u, p):
    x, y, z = u
    sigma, rho, beta = p
    return jnp.stack([sigma * (y - x), x * (rho - z) - y, x * y - beta * z])


def rk4(f, u, p, h):
    k1 = f(u, p)
    k2 = f(u + 0.5 * h * k1, p)
    k3 = f(u + 0.5 * h * k2, p)
    k4 = f(u + h * k3, p)
    return u + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


@partial(jax.jit, static_argnames="n_steps")
def trajectory(u0, p, h, n_steps=400):
    u, out = u0, [u0]
    for _ in range(n_steps):  # finding
        u = rk4(lorenz, u, p, h)
        out.append(u)
    return jnp.stack(out)


def misfit(p, u0, observed):
    return jnp.mean((trajectory(u0, p, 0.01, n_steps=60)[::10] - observed) ** 2)


if __name__ == "__main__":
    p = jnp.array([10.0, 28.0, 8 / 3])
    print(jax.grad(misfit)(p, jnp.ones(3), jnp.zeros((7, 3))))
