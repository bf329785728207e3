# products, running sums, casts and constants that a narrow type does not hold

import jax
import jax.numpy as jnp

def quantise(x):
    scale = jnp.max(jnp.abs(x)) / 127.0
    return jnp.round(x / scale).astype(jnp.int8), scale

@jax.jit
def linear(x, w):
    (a, s), (b, t) = quantise(x), quantise(w)
    y = jnp.dot(a, b)  # finding
    z = a @ b  # finding
    e = jnp.einsum("ij,jk->ik", a, b)  # finding
    jnp.einsum("ij,jk", a, b)  # finding
    return (y + z + e).astype(jnp.float32) * s * t

@jax.jit
def positions(tokens):
    mask = (tokens != 0).astype(jnp.uint8)
    return jnp.cumsum(mask, axis=-1) - 1  # finding

def tables(x):
    places = jnp.arange(8192, dtype=jnp.bfloat16)  # finding
    cast = jnp.arange(8192).astype(jnp.float16)  # finding
    labels = jnp.arange(300).astype(jnp.uint8)  # finding
    classes = jax.random.randint(jax.random.key(0), (8,), 0, 1000).astype(jnp.int8)  # finding
    return places, cast, labels, classes

@jax.jit
def masked(scores, mask):
    scores = scores.astype(jnp.float16)
    scores = jnp.where(mask, scores, -1e9)  # finding
    return jax.nn.softmax(scores - 1e6)  # finding

@jax.jit
def bright(image):
    image = image.astype(jnp.uint8)
    saturated = image > 256  # finding
    return saturated, image * 300  # finding
