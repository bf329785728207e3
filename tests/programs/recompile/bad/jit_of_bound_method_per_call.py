# source: jax-ml/jax#2519
# blind: first

import jax
import jax.numpy as jnp


class LogisticRegression:
    def __init__(self, dim, lr=0.1):
        self.w = jnp.zeros(dim)
        self.lr = lr

    def loss(self, w, x, y):
        logits = x @ w
        return jnp.mean(jnp.logaddexp(0.0, -y * logits))

    def partial_fit(self, x, y):
        grad_fn = jax.jit(jax.grad(self.loss))  # finding
        self.w = self.w - self.lr * grad_fn(self.w, x, y)


def train(model, batches):
    for x, y in batches:
        model.partial_fit(x, y)
    return model


if __name__ == "__main__":
    train(LogisticRegression(3), [(jnp.ones((4, 3)), jnp.ones(4))] * 5)
