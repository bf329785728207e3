# source: jax-ml/jax#20388
# blind: sixth

"""Reward shaping for a pendulum."""
import jax
import jax.numpy as jnp


def angle_normalise(x):
    return ((x + jnp.pi) % (2 * jnp.pi)) - jnp.pi


@jax.jit
def env_step(state, action):
    theta, omega = state
    torque = jnp.clip(action, a_min=-2.0, a_max=2.0)  # finding
    cost = angle_normalise(theta) ** 2 + 0.1 * omega**2 + 0.001 * torque**2
    omega = omega + (15.0 * jnp.sin(theta) + 3.0 * torque) * 0.05
    return (theta + omega * 0.05, omega), -cost


def rollout(state, actions):
    return jax.lax.scan(env_step, state, actions)


if __name__ == "__main__":
    print(rollout((jnp.pi, 0.0), jnp.linspace(-3.0, 3.0, 8))[1])
