# source: jax-ml/jax#2784
# blind: sixth

"""Weighted loss whose weights are declared static."""
from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnums=(2,))
def weighted_loss(pred, target, class_weights):
    logp = jax.nn.log_softmax(pred)
    picked = jnp.take_along_axis(logp, target[:, None], axis=1)[:, 0]
    return -jnp.mean(picked * jnp.asarray(class_weights)[target])


def inverse_frequency(labels, num_classes):
    counts = jnp.bincount(labels, length=num_classes)
    return counts.sum() / (num_classes * jnp.maximum(counts, 1))


def main():
    labels = jnp.array([0, 1, 1, 2])
    weights = inverse_frequency(labels, 3)
    logits = jax.random.normal(jax.random.key(0), (4, 3))
    print(weighted_loss(logits, labels, weights))  # finding


if __name__ == "__main__":
    main()
