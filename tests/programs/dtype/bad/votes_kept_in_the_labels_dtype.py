# source: jax-ml/jax#4274
# blind: fifth

import jax
import jax.numpy as jnp


def class_weights(labels, confidence, num_classes):
    """Sum of the confidences of the votes for each class, normalised."""
    votes = jnp.zeros(num_classes, labels.dtype)
    votes = votes.at[labels].add(confidence)  # finding
    return votes / jnp.maximum(votes.sum(), 1)


def weighted_loss(logits, labels, confidence):
    weights = class_weights(labels, confidence, logits.shape[-1])
    log_p = jax.nn.log_softmax(logits)
    picked = jnp.take_along_axis(log_p, labels[:, None], axis=-1)[:, 0]
    return -jnp.mean(weights[labels] * picked)


if __name__ == "__main__":
    labels = jnp.array([0, 1, 1, 2], jnp.int32)
    confidence = jnp.array([0.4, 0.9, 0.8, 0.3])
    print(class_weights(labels, confidence, 3))
    print(weighted_loss(jnp.zeros((4, 3)), labels, confidence))
