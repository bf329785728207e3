# source: jax-ml/jax#7426
# blind: seventh

"""Optimal control with a rollout that is recomputed in the backward pass."""

import functools

import jax
import jax.numpy as jnp


@jax.checkpoint  # finding
def dynamics(state, control, linear):
    position, velocity = state
    if linear:  # finding-also
        force = -position
    else:
        force = -jnp.sin(position)
    velocity = velocity + 0.05 * (force + control)
    return position + 0.05 * velocity, velocity


@functools.partial(jax.jit, static_argnames=("linear",))
def cost(controls, start, linear):
    state = start
    total = 0.0
    for t in range(5):
        state = dynamics(state, controls[t], linear)  # finding-also
        total = total + state[0] ** 2 + 0.01 * controls[t] ** 2
    return total


def plan(start, linear=False, steps=20):
    controls = jnp.zeros(5)
    for _ in range(steps):
        controls = controls - 0.1 * jax.grad(cost)(controls, start, linear)
    return controls


if __name__ == "__main__":
    print(plan((jnp.array(1.0), jnp.array(0.0))))
