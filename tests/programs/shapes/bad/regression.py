import jax
import jax.numpy as jnp


def design(x):
    return jnp.column_stack([jnp.ones_like(x), x, x**2])


@jax.jit
def predict(theta, x):
    return design(x) @ theta  # finding


theta = jnp.zeros(4)
x = jnp.linspace(0.0, 1.0, 50)
print(predict(theta, x))
