# blind: tenth

import jax
import jax.numpy as jnp


def lorenz(state):
    x, y, z = state
    return jnp.stack([10.0 * (y - x), x * (28.0 - z) - y, x * y - 8.0 / 3.0 * z])


@jax.jit
def integrate(state, dt=0.01):
    for _ in range(1000):  # finding
        k1 = lorenz(state)
        k2 = lorenz(state + dt * k1)
        state = state + 0.5 * dt * (k1 + k2)
    return state


if __name__ == "__main__":
    print(jax.make_jaxpr(lorenz)(jnp.ones(3)))
