import jax
import jax.numpy as jnp


def pairwise(x, y):
    return jnp.sum((x[:, None, :] - y[None, :, :]) ** 2, axis=-1)


def kernel(t):
    gap = t[:, None] - t
    return jnp.exp(-(gap**2))


print(pairwise(jnp.ones((5, 3)), jnp.ones((7, 3))).shape, kernel(jnp.linspace(0.0, 1.0, 20)).shape)
