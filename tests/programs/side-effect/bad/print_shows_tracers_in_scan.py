# source: jax-ml/jax#3086
# blind: eighth

import jax
import jax.numpy as jnp


@jax.jit
def gradient_descent(x0, target):
    def body(x, i):
        loss, g = jax.value_and_grad(lambda v: jnp.sum((v - target) ** 2))(x)
        print("step", i, "loss", loss)  # finding
        return x - 0.1 * g, loss

    return jax.lax.scan(body, x0, jnp.arange(20))


if __name__ == "__main__":
    print(gradient_descent(jnp.zeros(2), jnp.ones(2))[0])
