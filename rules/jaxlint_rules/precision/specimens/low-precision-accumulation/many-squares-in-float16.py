# many squares in float16

import jax
import jax.numpy as jnp

@jax.jit
def energy(image):
    half = image.astype(jnp.float16)
    total = jnp.sum(jnp.square(half)) / half.size  # finding
    size = jnp.linalg.norm(half)  # finding
    return total, size, jnp.sum(half * half, axis=(0, 1))  # finding

@jax.jit
def spectrum(image):
    half = image.astype(jnp.float16)
    return jnp.mean(half**2), jnp.sum(half), jnp.sum(half**2, axis=0), jnp.sum(half**2, dtype=jnp.float32)

@jax.jit
def wide(image):
    brain = image.astype(jnp.bfloat16)
    return jnp.sum(image**2), jnp.sum(brain**2), jnp.linalg.norm(image.astype(jnp.float16), axis=-1)

image = jax.random.normal(jax.random.key(0), (256, 256)) * 3.0
print(energy(image), spectrum(image), wide(image))
