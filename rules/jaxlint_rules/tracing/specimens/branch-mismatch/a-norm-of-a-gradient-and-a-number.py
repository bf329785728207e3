# a norm of a gradient, and an integer

import jax
import jax.numpy as jnp


def step(state, slope):
    return {"x": state["x"] - 0.1 * slope, "last": jnp.linalg.norm(slope)}


def stay(state, slope):
    return {"x": state["x"], "last": 0}


def rest(state, slope):
    return {"x": state["x"], "last": 0.0 * state["last"]}


def descend(f, x):
    state = {"x": x, "last": jnp.float32(0)}
    slope = jax.grad(f)(state["x"])
    better = f(x - 0.1 * slope) < f(x)
    worse = jax.lax.cond(better, step, stay, state, slope)  # finding
    return worse, jax.lax.cond(better, step, rest, state, slope)


descend(lambda x: jnp.sum(x**2), jnp.ones(3))
