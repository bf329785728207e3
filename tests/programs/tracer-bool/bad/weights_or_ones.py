# source: jax-ml/jax#17650
# blind: ninth

import jax
import jax.numpy as jnp


def normalise(weights, n):
    weights = weights or jnp.ones(n)  # finding
    return weights / weights.sum()


def weighted_nll(params, x, y, weights=None):
    logits = x @ params["w"] + params["b"]
    picked = jnp.take_along_axis(jax.nn.log_softmax(logits), y[:, None], axis=1)[:, 0]
    return -jnp.sum(normalise(weights, x.shape[0]) * picked)


class Classifier:
    def __init__(self):
        self.grad_fn = jax.jit(jax.grad(weighted_nll))

    def fit(self, params, x, y, sample_weight):
        for _ in range(3):
            grads = self.grad_fn(params, x, y, weights=sample_weight)
            params = jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)  # finding-other
        return params


if __name__ == "__main__":
    params = {"w": jnp.zeros((4, 3)), "b": jnp.zeros(3)}
    print(Classifier().fit(params, jnp.ones((8, 4)), jnp.zeros(8, jnp.int32), jnp.ones(8)))
