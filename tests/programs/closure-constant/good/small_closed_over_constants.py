# source: jax-ml/jax#10130
# blind: first

import jax
import jax.numpy as jnp
import numpy as np

KERNEL = np.array([1.0, 4.0, 6.0, 4.0, 1.0], np.float32) / 16.0
MEAN = jnp.array([0.485, 0.456, 0.406])


@jax.jit
def blur(signal):
    return jnp.convolve(signal, KERNEL, mode="same")


def make_normaliser(std):
    return jax.jit(lambda images: (images - MEAN) / std)


def objective(params, data):
    return jnp.mean((data @ params) ** 2)


DATA = jnp.ones((20000, 256))
loss = jax.jit(objective)

if __name__ == "__main__":
    print(blur(jnp.ones(16)), make_normaliser(jnp.ones(3))(jnp.ones((2, 3))), loss(jnp.ones(256), DATA))
