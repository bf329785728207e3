# source: jax-ml/jax#4490
# blind: eighth

import jax
import jax.numpy as jnp


@jax.jit
def newton(x):
    def cond(state):
        x, dx = state
        return jnp.abs(dx) > 1e-6

    def body(state):
        x, _ = state
        dx = (x**3 - 2.0) / (3.0 * x**2)
        return x - dx, dx

    return jax.lax.while_loop(cond, body, (x, jnp.ones_like(x)))[0]


if __name__ == "__main__":
    start = jnp.asarray(1.5, dtype=jnp.float64)  # finding
    print(newton(start))
