# products, sums, casts and constants that fit

import jax
import jax.numpy as jnp
import numpy as np

@jax.jit
def linear(a, b):
    a, b = a.astype(jnp.int8), b.astype(jnp.int8)
    y = jax.lax.dot(a, b, preferred_element_type=jnp.int32)
    z = jnp.matmul(a, b, preferred_element_type=jnp.int32)
    w = a.astype(jnp.int32) @ b.astype(jnp.int32)
    return y + z + w, jnp.sum(a), jnp.mean(a), jnp.cumsum(a, dtype=jnp.int32)

@jax.jit
def pairs(signs, others):
    signs, others = signs.astype(jnp.int8), others.astype(jnp.int8)
    return jnp.einsum("is,js->ijs", signs, others), jnp.einsum("i,j", signs[:, 0], others[:, 0])

def positions(tokens):
    few = jnp.arange(100) > 3
    counted = jnp.cumsum(few.astype(jnp.uint8))
    return jnp.cumsum((tokens != 0).astype(jnp.int32), axis=-1), jnp.cumsum(tokens != 0), counted

def tables(n):
    short = jnp.arange(128, dtype=jnp.bfloat16)
    even = jnp.arange(0, 512, 2, dtype=jnp.bfloat16)
    unknown = jnp.arange(n).astype(jnp.bfloat16)
    scaled = (jnp.arange(8192) / 8192).astype(jnp.bfloat16)
    pixels = jax.random.randint(jax.random.key(0), (8,), 0, 256).astype(jnp.uint8)
    host = np.arange(300).astype(np.uint16)
    return short, even, unknown, scaled, pixels, host

@jax.jit
def masked(scores, mask):
    half = scores.astype(jnp.float16)
    wide = scores.astype(jnp.bfloat16)
    low = jnp.where(mask, half, -jnp.inf)
    least = jnp.where(mask, half, jnp.finfo(half.dtype).min)
    return jnp.where(mask, wide, -1e9), jnp.where(mask, half, -6e4), low, least, jnp.clip(half, -1e6, 1e6)

@jax.jit
def bright(image):
    image = image.astype(jnp.uint8)
    return image > 250, image * 2, image.astype(jnp.int32) * 300, image + 0.5
