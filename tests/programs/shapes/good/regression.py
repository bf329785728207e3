import jax
import jax.numpy as jnp


def design(x, degree):
    return jnp.stack([x**k for k in range(degree + 1)], axis=-1)


@jax.jit
def predict(theta, x):
    return design(x, 3) @ theta


theta = jnp.zeros(4)
x = jnp.linspace(0.0, 1.0, 50)
print(predict(theta, x))
