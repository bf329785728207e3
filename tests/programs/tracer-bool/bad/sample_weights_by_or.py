# source: jax-ml/jax#16430
# blind: third

import functools

import jax
import jax.numpy as jnp


def reduce_with(reducer):
    def decorate(term):
        @functools.wraps(term)
        def wrapped(pred, target, weights=None, **kw):
            values = term(pred, target, **kw)
            weights = weights or jnp.ones_like(values)  # finding
            return reducer(values * weights) / jnp.sum(weights)

        return wrapped

    return decorate


@reduce_with(jnp.sum)
def huber(pred, target, delta=1.0):
    err = jnp.abs(pred - target)
    return jnp.where(err < delta, 0.5 * err**2, delta * (err - 0.5 * delta))


@jax.jit
def train_loss(w, batch):
    return huber(batch["x"] @ w, batch["y"], weights=batch["sample_weight"])


if __name__ == "__main__":
    batch = {
        "x": jnp.ones((8, 2)),
        "y": jnp.zeros(8),
        "sample_weight": jnp.linspace(0.1, 1.0, 8),
    }
    print(train_loss(jnp.ones(2), batch))
