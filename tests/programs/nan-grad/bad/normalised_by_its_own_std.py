# source: jax-ml/jax#3058
# blind: first

import jax
import jax.numpy as jnp


def instance_norm(x, eps=1e-6):
    mean = jnp.mean(x, axis=-1, keepdims=True)
    std = jnp.std(x, axis=-1, keepdims=True)  # finding
    return (x - mean) / (std + eps)


def loss(scale, images):
    return jnp.mean((instance_norm(scale * images) - 1.0) ** 2)


if __name__ == "__main__":
    blank = jnp.zeros((2, 16))
    print(jax.grad(loss)(1.0, blank))
