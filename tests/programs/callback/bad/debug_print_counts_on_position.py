# source: jax-ml/jax#11770
# blind: seventh

import jax
import jax.numpy as jnp


def newton_step(x, a):
    residual = a @ x - jnp.tanh(x)
    jacobian = a - jnp.diag(1.0 - jnp.tanh(x) ** 2)
    jax.debug.print("residual {norm}", jnp.linalg.norm(residual))  # finding
    return x - jnp.linalg.solve(jacobian, residual)


@jax.jit
def solve(a, x0):
    return jax.lax.fori_loop(0, 5, lambda _, x: newton_step(x, a), x0)


if __name__ == "__main__":
    print(solve(3.0 * jnp.eye(4), jnp.ones(4)))
