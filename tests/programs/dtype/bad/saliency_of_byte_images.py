# blind: tenth

import jax
import jax.numpy as jnp


def score(params, image):
    return jnp.sum((image.astype(jnp.float32) / 255.0) * params)


def saliency(params, image):
    return jnp.abs(jax.grad(score, argnums=1)(params, image))  # finding


image = jnp.zeros((8, 8), jnp.uint8)
print(saliency(jnp.ones((8, 8)), image))
