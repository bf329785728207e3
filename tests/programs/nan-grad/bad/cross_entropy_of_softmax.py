# source: jax-ml/jax#475
# blind: first

import jax
import jax.numpy as jnp


def cross_entropy(logits, labels):
    probs = jax.nn.softmax(logits)
    return -jnp.sum(labels * jnp.log(probs))  # finding


def train(w, x, labels, steps):
    for _ in range(steps):
        w = w - 0.1 * jax.grad(lambda w: cross_entropy(x @ w, labels))(w)
    return w


if __name__ == "__main__":
    x = jnp.array([[300.0, -300.0]])
    print(train(jnp.eye(2), x, jnp.array([[0.0, 1.0]]), 1))
