# source: jax-ml/jax#817
# blind: eighth

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames="steps")
def simulate(theta, y0, steps, dt=0.01):
    def f(v):
        return jnp.stack([theta[0] * v[0] - theta[1] * v[0] * v[1], theta[1] * v[0] * v[1] - v[1]])

    def step(y, _):
        k1 = f(y)
        return y + dt * f(y + 0.5 * dt * k1), None

    return jax.lax.scan(step, y0, None, length=steps)[0]


def sweep(thetas, y0):
    return jax.vmap(lambda t: simulate(t, y0, 20))(thetas)


if __name__ == "__main__":
    print(sweep(jnp.array([[1.0, 0.5], [1.1, 0.4]]), jnp.array([1.0, 0.5])))
