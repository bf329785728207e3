# source: jax-ml/jax#347
# blind: eighteenth

import jax
import jax.numpy as jnp


def unicycle_rollout(controls, dt=0.1):
    """Integrate accelerations from rest; returns positions and velocities."""

    def step(carry, u):
        pos, vel = carry
        vel = vel + dt * u
        pos = pos + dt * vel
        return (pos, vel), (pos, vel)

    init = (jnp.zeros(2), jnp.zeros(2))
    _, (pos, vel) = jax.lax.scan(step, init, controls)
    return pos, vel


def headings(vel):
    return jnp.arctan2(vel[:, 1], vel[:, 0])  # finding


def smoothness(theta):
    d = jnp.diff(theta)
    return jnp.sum(1.0 - jnp.cos(d))


def cost(controls, goal):
    pos, vel = unicycle_rollout(controls)
    reach = jnp.sum((pos[-1] - goal) ** 2)
    return reach + 0.1 * smoothness(headings(vel)) + 1e-3 * jnp.sum(controls**2)


def plan(goal, horizon=20, iters=3, lr=0.5):
    controls = jnp.zeros((horizon, 2))
    value_and_grad = jax.jit(jax.value_and_grad(cost))
    for _ in range(iters):
        value, g = value_and_grad(controls, goal)
        controls = controls - lr * g
    return value, controls


if __name__ == "__main__":
    print(plan(jnp.array([1.0, 2.0]))[0])
