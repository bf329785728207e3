# source: jax-ml/jax#16611
# blind: fifth

import jax.numpy as jnp


def derivative(state, g=9.81, length=1.0, damping=0.1):
    theta, omega = state
    return jnp.array([omega, -g / length * jnp.sin(theta) - damping * omega])


def rk4_step(state, dt):
    k1 = derivative(state)
    k2 = derivative(state + 0.5 * dt * k1)
    k3 = derivative(state + 0.5 * dt * k2)
    k4 = derivative(state + dt * k3)
    return state + dt / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)


def simulate(theta0, n_steps=2000, dt=0.005):
    state = jnp.array([theta0, 0.0])
    trajectory = [state]
    for _ in range(n_steps):  # finding
        state = rk4_step(state, dt)  # finding-also
        trajectory.append(state)
    return jnp.stack(trajectory)


if __name__ == "__main__":
    path = simulate(1.0)
    print(path[-1])
