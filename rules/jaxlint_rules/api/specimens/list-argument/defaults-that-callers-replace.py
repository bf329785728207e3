# defaults that callers replace, or that the function converts first

import jax
import jax.numpy as jnp

MEAN = (0.485, 0.456, 0.406)


def normalize(image, mean=MEAN):
    return image - mean


def convert(image, mean=MEAN):
    mean = jnp.asarray(mean)
    return image - mean


def either(image, mean=MEAN):
    if isinstance(mean, tuple):
        mean = jnp.array(mean)
    return image - mean


@jax.jit
def preprocess(batch):
    mean = jnp.array(MEAN)
    batch = jax.vmap(lambda image: normalize(image, mean))(batch)
    return either(convert(batch))


def never_called(image, mean=MEAN):
    return jnp.asarray(image) - mean


preprocess(jnp.ones((2, 8, 8, 3)))


def averaged(values, species=None):
    if species is None:
        return jnp.mean(values)  # an array then
    return jnp.stack([jnp.mean(value) for value in values])


averaged([jnp.ones(3), jnp.ones(2)], species=2)
averaged(jnp.ones(3))
