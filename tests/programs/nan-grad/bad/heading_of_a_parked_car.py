# source: jax-ml/jax#15407
# blind: seventh

"""Model predictive control of a car: the heading follows the velocity."""

import jax
import jax.numpy as jnp
from jax import lax


def step(state, control):
    position, velocity = state
    velocity = velocity + 0.1 * control
    return (position + 0.1 * velocity, velocity), velocity


def heading(velocity):
    return jnp.arctan2(velocity[..., 1], velocity[..., 0])  # finding


def cost(controls, goal):
    start = (jnp.zeros(2), jnp.zeros(2))
    (position, _), velocities = lax.scan(step, start, controls)
    turn = jnp.diff(heading(velocities))
    return jnp.sum((position - goal) ** 2) + 0.1 * jnp.sum(turn**2)


@jax.jit
def improve(controls, goal):
    return controls - 0.1 * jax.grad(cost)(controls, goal)


if __name__ == "__main__":
    controls = jnp.zeros((20, 2))
    for _ in range(3):
        controls = improve(controls, jnp.array([1.0, 2.0]))
    print(controls[0])
