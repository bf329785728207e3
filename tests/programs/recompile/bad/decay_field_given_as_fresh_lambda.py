# source: jax-ml/jax#2251
# blind: fifth

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnums=(0, 2))
def rk4(field, y0, n_steps, dt):
    def step(y, _):
        k1 = field(y)
        k2 = field(y + 0.5 * dt * k1)
        k3 = field(y + 0.5 * dt * k2)
        k4 = field(y + dt * k3)
        return y + dt / 6.0 * (k1 + 2 * k2 + 2 * k3 + k4), None

    y, _ = jax.lax.scan(step, y0, None, length=n_steps)
    return y


def half_life_sweep(y0, rates):
    """Final amounts for each decay rate of the chain."""
    finals = []
    for rate in rates:
        final = rk4(lambda y: -rate * y, y0, 50, 0.02)  # finding
        finals.append(final)
    return jnp.stack(finals)


if __name__ == "__main__":
    print(half_life_sweep(jnp.array([1.0, 0.5]), [0.1, 0.2, 0.4]))
