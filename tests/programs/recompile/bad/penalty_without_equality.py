# source: jax-ml/jax#1491
# blind: second

from functools import partial

import jax
import jax.numpy as jnp


class ElasticNet:
    def __init__(self, l1, l2):
        self.l1, self.l2 = l1, l2

    def __call__(self, w):
        return self.l1 * jnp.sum(jnp.abs(w)) + self.l2 * jnp.sum(w**2)


@partial(jax.jit, static_argnums=3)
def loss(w, x, y, penalty):
    return jnp.mean((x @ w - y) ** 2) + penalty(w)


def cross_validate(folds, w):
    scores = []
    for x, y in folds:
        penalty = ElasticNet(0.1, 0.01)
        scores.append(loss(w, x, y, penalty))  # finding
    return jnp.stack(scores)


if __name__ == "__main__":
    xs = jax.random.normal(jax.random.key(0), (6, 8, 3))
    print(cross_validate([(x, x.sum(1)) for x in xs], jnp.ones(3)).mean())
