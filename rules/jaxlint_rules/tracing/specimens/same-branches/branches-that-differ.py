# branches that differ, that both do nothing, and a switch whose cases repeat

import jax
import jax.numpy as jnp
from functools import partial


def move(step, u):
    return jnp.roll(u, step)


def stay(u):
    return u


def made(scale):
    return lambda x: x * scale


@jax.jit
def evolve(u, t):
    u = jax.lax.cond(t % 2 == 0, partial(move, 1), partial(move, -1), u)
    u = jax.lax.cond(t > 1, made(1.0), made(2.0), u)
    u = jax.lax.cond(t > 5, stay, stay, u)
    u = jax.lax.switch(t, [stay, stay, lambda x: x * 2], u)
    return jax.lax.cond(t > 3, lambda x: x + 1, lambda x: x - 1, u)
