# differences of images

import jax
import jax.numpy as jnp

def load(n):
    return jnp.zeros((n, 8, 8), dtype=jnp.uint8), jnp.ones((n, 8, 8), jnp.uint8)

def error(a, b):
    return jnp.mean(jnp.square(a - b)) + jnp.mean(jnp.abs(a - b))  # finding

def centred(images):
    return (images - 128) / 64.0  # finding

def motion(frames):
    steps = frames[1:] - frames[:-1]
    return steps.astype(jnp.float32).mean()  # finding

clean, noisy = load(2)
print(error(clean, noisy), centred(clean), motion(noisy))
