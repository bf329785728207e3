# source: jax-ml/jax#15798
# blind: second

import jax
import jax.numpy as jnp
import optax


def angle(a, b):
    cosine = jnp.sum(a * b, axis=-1)
    return jnp.arccos(jnp.clip(cosine, -1.0, 1.0))  # finding


def normalise(q):
    return q / jnp.sqrt(jnp.sum(q**2, axis=-1, keepdims=True) + 1e-12)


class PoseFit:
    def __init__(self, targets, tx):
        self.targets = normalise(targets)
        self.tx = tx

    def loss(self, q):
        return jnp.mean(angle(normalise(q), self.targets) ** 2)

    def fit(self, q, steps):
        state = self.tx.init(q)
        grad = jax.jit(jax.grad(self.loss))
        for _ in range(steps):
            updates, state = self.tx.update(grad(q), state)
            q = optax.apply_updates(q, updates)
        return q


if __name__ == "__main__":
    q = jnp.ones((2, 4))
    print(PoseFit(q, optax.sgd(0.1)).fit(q, 2))
