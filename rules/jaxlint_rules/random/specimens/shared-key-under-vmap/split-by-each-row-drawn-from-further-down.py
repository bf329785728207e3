# split by each row, drawn from further down

import jax
import jax.numpy as jnp

def flip(key, image):
    return jnp.where(jax.random.bernoulli(key), image[::-1], image)

def augment(key, image):
    flip_key, noise_key = jax.random.split(key)
    return flip(flip_key, image) + jax.random.normal(noise_key, image.shape)

def numbered(key, image, i):
    keys = jax.random.split(key, 8)
    return flip(keys[i], image)

def folded(key, image, i):
    flip_key, noise_key = jax.random.split(jax.random.fold_in(key, i))
    return flip(flip_key, image) + jax.random.normal(noise_key, image.shape)

batched = jax.jit(jax.vmap(augment, in_axes=(None, 0)))  # finding

def epoch(images, key, indices):
    for image in images:
        key, sub = jax.random.split(key)
        own = jax.vmap(augment)(jax.random.split(sub, 8), image)
        some = jax.vmap(numbered, in_axes=(None, 0, 0))(sub, image, indices)
        more = jax.vmap(folded, in_axes=(None, 0, 0))(sub, image, indices)
    key, sub = jax.random.split(key)
    return jax.vmap(augment, in_axes=(None, 0))(sub, images), own, some, more  # finding
