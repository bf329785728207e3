# source: jax-ml/jax#10596

import jax
import jax.numpy as jnp


class Regression:
    def __init__(self, features, targets, penalty=1e-3):
        self.features = features
        self.targets = targets
        self.penalty = penalty

    def loss(self, w):
        residual = self.features @ w - self.targets
        return jnp.mean(residual**2) + self.penalty * jnp.sum(w**2)

    def fit(self, steps=5, lr=1e-2):
        step = jax.jit(lambda w: w - lr * jax.grad(self.loss)(w))  # finding
        w = jnp.zeros(self.features.shape[1])
        for _ in range(steps):
            w = step(w)
        return w


def main():
    features = jax.random.normal(jax.random.key(0), (100_000, 50))
    print(Regression(features, features.sum(1)).fit()[:3])


main()
