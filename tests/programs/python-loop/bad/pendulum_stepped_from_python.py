# source: jax-ml/jax#402
# blind: second

import jax.numpy as jnp


def field(state, torque):
    angle, speed = state
    return jnp.stack([speed, -9.81 * jnp.sin(angle) + torque])


def controller(state, gain=2.0):
    return -gain * state[1]


def simulate(state, dt, steps):
    history = []
    for _ in range(steps):  # finding
        state = state + dt * field(state, controller(state))  # finding-also
        history.append(state)  # finding-also
    return jnp.stack(history)


if __name__ == "__main__":
    print(simulate(jnp.array([0.5, 0.0]), 0.01, 200)[-1])
