# source: google-deepmind/mujoco#1207
# blind: eighth

import jax
import jax.numpy as jnp


def relax(coeffs, x, iterations):
    def body(i, x):
        return x - 0.1 * (coeffs * x - jnp.sin(x))

    return jax.lax.fori_loop(0, iterations, body, x)  # finding


@jax.jit
def loss_and_grad(coeffs, x, iterations):
    return jax.value_and_grad(lambda c: jnp.sum(relax(c, x, iterations) ** 2))(coeffs)  # finding-also


if __name__ == "__main__":
    print(loss_and_grad(jnp.ones(3), jnp.ones(3), 10))
