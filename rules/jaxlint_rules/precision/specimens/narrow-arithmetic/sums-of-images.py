# sums of images

import jax
import jax.numpy as jnp
import numpy as np

@jax.jit
def blend(a, b):
    gray = a[..., 0] + a[..., 1] + a[..., 2]  # finding
    return (a + b) / 2, gray.astype(jnp.float32)  # finding

@jax.jit
def fits(a, b):
    halves = (a // 2 + b // 2) / 1.0
    wide = (a.astype(jnp.float32) + b) / 2
    votes = ((a > 3).astype(jnp.uint8) + (b > 4).astype(jnp.uint8)) / 2
    return halves, wide, votes, ((a & 1) + (b & 1)).astype(jnp.float32), a + b

images = jnp.asarray(np.random.default_rng(0).integers(0, 256, (4, 8, 8, 3), dtype=np.uint8))
for one, other in zip(images, images[1:]):
    blend(one, other), fits(one, other)
