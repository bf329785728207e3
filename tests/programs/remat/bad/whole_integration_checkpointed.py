# source: jax-ml/jax#27748
# blind: seventh

"""Wave equation with a learned speed: the gradient goes through ten thousand steps."""

import functools

import jax
import jax.numpy as jnp
from jax import lax

STEPS = 10_000


def laplacian(u):
    return jnp.roll(u, 1) + jnp.roll(u, -1) - 2.0 * u


def step(speed, state, _):
    u, v = state
    v = v + 0.01 * speed**2 * laplacian(u)
    u = u + 0.01 * v
    return (u, v), None


@jax.checkpoint  # finding
def integrate(speed, u0):
    start = (u0, jnp.zeros_like(u0))
    (u, _), _ = lax.scan(functools.partial(step, speed), start, None, length=STEPS)  # finding-also
    return u


def misfit(speed, u0, observed):
    return jnp.mean((integrate(speed, u0) - observed) ** 2)


@jax.jit
def update(speed, u0, observed):
    return speed - 0.1 * jax.grad(misfit)(speed, u0, observed)


if __name__ == "__main__":
    x = jnp.linspace(0.0, 1.0, 128)
    print(update(jnp.ones(128), jnp.exp(-100 * (x - 0.5) ** 2), jnp.zeros(128))[:3])
