# source: jax-ml/jax#4274

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np


class RidgeNet:
    def __init__(self, alpha, hidden=8):
        self.alpha = alpha
        self.hidden = hidden

    def init(self, n_in):
        return {"w": jnp.ones((n_in, self.hidden)) * 0.1, "v": jnp.ones(self.hidden) * 0.1}

    @partial(jax.jit, static_argnums=0)
    def update(self, params, X, y):
        def loss(p):
            pred = jnp.tanh(X @ p["w"]) @ p["v"]
            penalty = sum(jnp.sum(leaf**2) for leaf in jax.tree.leaves(p))
            return jnp.mean((pred - y) ** 2) + self.alpha * penalty

        grads = jax.grad(loss)(params)
        return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)


def cross_validate(X, y, alphas, folds=3, steps=20):
    scores = {}
    for alpha in alphas:
        for fold in range(folds):
            model = RidgeNet(alpha)  # finding-also
            keep = np.arange(len(y)) % folds != fold
            params = model.init(X.shape[1])
            for _ in range(steps):
                params = model.update(params, X[keep], y[keep])  # finding
            scores[alpha, fold] = params
    return scores


if __name__ == "__main__":
    X = np.random.default_rng(0).normal(size=(60, 4))
    print(len(cross_validate(X, X.sum(1), [0.0, 0.1, 0.3])))
