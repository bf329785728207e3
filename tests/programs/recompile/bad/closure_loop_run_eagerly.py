# source: jax-ml/jax#20399
# blind: second

import jax
import jax.numpy as jnp


class Newton:
    def __init__(self, residual, tol=1e-5, max_steps=30):
        self.residual = residual
        self.tol = tol
        self.max_steps = max_steps

    def solve(self, x0, theta):
        def running(state):
            x, step = state
            return (jnp.abs(self.residual(x, theta)) > self.tol) & (step < self.max_steps)

        def advance(state):
            x, step = state
            slope = jax.grad(self.residual)(x, theta)
            return x - self.residual(x, theta) / slope, step + 1

        root, _ = jax.lax.while_loop(running, advance, (x0, 0))  # finding
        return root


def kepler(eccentric, pair):
    mean, ecc = pair
    return eccentric - ecc * jnp.sin(eccentric) - mean


def orbit(means, ecc):
    newton = Newton(kepler)
    angles = []
    for mean in means:
        angles.append(newton.solve(mean, (mean, ecc)))  # finding-also
    return jnp.stack(angles)


if __name__ == "__main__":
    times = [0.1 * k for k in range(1, 40)]
    print(orbit([jnp.float32(t) for t in times], jnp.float32(0.3)).shape)
