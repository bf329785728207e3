# source: jax-ml/jax#2009
# blind: first

import jax
import jax.numpy as jnp


def jitter(x, scale=0.1, key=jax.random.key(0)):  # finding-also
    return x + scale * jax.random.normal(key, x.shape)


def augment(images, copies):
    views = []
    for _ in range(copies):
        views.append(jitter(images))  # finding
    return jnp.stack(views)


if __name__ == "__main__":
    print(augment(jnp.zeros((4, 4)), 3).std(axis=0).max())
