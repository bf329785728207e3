# source: jax-ml/jax#1897
# blind: first

import jax
import jax.numpy as jnp


@jax.jit
def gradient_along_axes(x):
    parts = []
    for axis in range(x.ndim):
        parts.append(jnp.roll(x, -1, axis) - jnp.roll(x, 1, axis))
    return 0.5 * jnp.stack(parts)


@jax.jit
def newton_sqrt(a):
    x = a
    for _ in range(4):
        x = 0.5 * (x + a / x)
    return x


if __name__ == "__main__":
    print(gradient_along_axes(jnp.ones((4, 4, 4))).shape, newton_sqrt(2.0))
