# parts of one tree that are changed alike, and noise that is added twice

import jax
import jax.numpy as jnp


def crop(key, views, part):
    image = views[part]
    start = jax.random.randint(key, (2,), 0, 4)
    return {**views, part: jax.lax.dynamic_slice(image, start, (8, 8))}


def blurred(key, views, scale):
    return jax.tree.map(lambda one: one + scale * jax.random.normal(key, one.shape), views)


def augmented(key, views):
    views = crop(key, views, "rgb")
    views = crop(key, views, "depth")
    return views


def noisy(key, views):
    views = blurred(key, views, 0.1)
    views = blurred(key, views, 0.2)  # finding
    return views


both = {"rgb": jnp.ones((12, 12)), "depth": jnp.ones((12, 12))}
first, second = jax.random.split(jax.random.key(0))
print(noisy(first, augmented(second, both)))
