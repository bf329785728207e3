# source: jax-ml/jax#7545
# blind: ninth

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np


class Batch(NamedTuple):
    obs: jax.Array
    returns: jax.Array


def clip_returns(returns, q=0.95):
    limit = np.quantile(returns, q)  # finding
    return jnp.minimum(returns, limit)


def value_loss(params, batch):
    values = batch.obs @ params
    return jnp.mean((values - clip_returns(batch.returns)) ** 2)


def learn(params, batches):
    def one(params, batch):
        return params - 0.01 * jax.grad(value_loss)(params, batch), None

    return jax.lax.scan(one, params, batches)[0]


if __name__ == "__main__":
    batches = Batch(jnp.ones((5, 16, 3)), jnp.ones((5, 16)))
    print(learn(jnp.zeros(3), batches))
