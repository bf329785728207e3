# source: jax-ml/jax#16430

import functools

import jax
import jax.numpy as jnp


def _resolve_weights(sample_weight, targets):
    weights = sample_weight or jnp.ones_like(targets)  # finding
    return weights / weights.sum()


def weighted_mse(params, x, y, sample_weight=None):
    pred = x @ params["w"] + params["b"]
    return jnp.sum(_resolve_weights(sample_weight, y) * (pred - y) ** 2)


@functools.partial(jax.jit, static_argnames="lr")
def sgd_step(params, x, y, sample_weight, lr=0.1):
    loss, grads = jax.value_and_grad(weighted_mse)(params, x, y, sample_weight)
    return jax.tree.map(lambda p, g: p - lr * g, params, grads), loss


def main():
    key = jax.random.key(0)
    x = jax.random.normal(key, (32, 3))
    y = x @ jnp.array([1.0, -2.0, 0.5])
    params = {"w": jnp.zeros(3), "b": jnp.zeros(())}
    weights = jnp.linspace(0.5, 1.5, 32)
    for _ in range(3):
        params, loss = sgd_step(params, x, y, weights)
    print(loss)


main()
