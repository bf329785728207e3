# source: jax-ml/jax#10596

import jax
import jax.numpy as jnp

STENCIL = jnp.array([1.0, -2.0, 1.0])


class Regression:
    def __init__(self, features, targets, penalty=1e-3):
        self.features = features
        self.targets = targets
        self.penalty = penalty

    def loss(self, w, features, targets):
        roughness = jnp.convolve(w, STENCIL, mode="valid")
        return jnp.mean((features @ w - targets) ** 2) + self.penalty * jnp.sum(roughness**2)

    def fit(self, steps=5, lr=1e-2):
        step = jax.jit(lambda w, x, y: w - lr * jax.grad(self.loss)(w, x, y))  # finding-other
        w = jnp.zeros(self.features.shape[1])
        for _ in range(steps):
            w = step(w, self.features, self.targets)
        return w


features = jax.random.normal(jax.random.key(0), (10_000, 50))
print(Regression(features, features.sum(1)).fit()[:3])
