# source: jax-ml/jax#817
# blind: eighth

import jax
import jax.numpy as jnp


def simulate(theta, y0, steps, dt=0.01):
    @jax.jit  # finding
    def rk4_step(y):  # finding-also
        def f(v):
            return jnp.stack([theta[0] * v[0] - theta[1] * v[0] * v[1], theta[1] * v[0] * v[1] - v[1]])

        k1 = f(y)
        k2 = f(y + 0.5 * dt * k1)
        return y + dt * k2

    for _ in range(steps):
        y0 = rk4_step(y0)  # finding-also
    return y0


def sweep(thetas, y0):
    return jnp.stack([simulate(t, y0, 20) for t in thetas])


if __name__ == "__main__":
    print(sweep(jnp.array([[1.0, 0.5], [1.1, 0.4], [0.9, 0.6]]), jnp.array([1.0, 0.5])))
