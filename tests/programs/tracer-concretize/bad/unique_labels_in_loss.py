# source: jax-ml/jax#2521
# blind: first

import jax
import jax.numpy as jnp


@jax.jit
def class_means(features, labels):
    classes = jnp.unique(labels)  # finding
    one_hot = labels[:, None] == classes[None]
    return (one_hot.T @ features) / one_hot.sum(0)[:, None]


if __name__ == "__main__":
    print(class_means(jnp.ones((6, 2)), jnp.array([0, 1, 2, 0, 1, 2])))
