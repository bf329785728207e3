# source: jax-ml/jax#4984
# blind: first

import jax
import jax.numpy as jnp
from jax import lax


def unroll(theta, x0, n_steps):
    def euler(_, x):
        return x + 0.1 * jnp.sin(theta * x)

    return lax.fori_loop(0, n_steps, euler, x0)  # finding


def loss(theta, x0, n_steps, target):
    return (unroll(theta, x0, n_steps) - target) ** 2


@jax.jit
def tune(theta, x0, n_steps, target):
    return theta - 0.1 * jax.grad(loss)(theta, x0, n_steps, target)  # finding-also


if __name__ == "__main__":
    print(tune(1.0, 0.5, 10, 0.9))
