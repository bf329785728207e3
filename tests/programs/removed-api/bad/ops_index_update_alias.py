# source: jax-ml/jax#11706

import jax
import jax.numpy as jnp
from jax import ops


def pad_predictions(batch, t, predicted):
    return ops.index_update(batch, t + 1, predicted)  # finding


def through_time(params, batch):
    def body(t, batch):
        return pad_predictions(batch, t, jnp.tanh(batch[t] @ params))

    return jax.lax.fori_loop(0, batch.shape[0] - 1, body, batch)


if __name__ == "__main__":
    print(through_time(jnp.eye(3), jnp.ones((5, 3))))
