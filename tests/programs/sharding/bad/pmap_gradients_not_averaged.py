# source: google/flax#1047

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import optax

tx = optax.sgd(0.1)


def loss_fn(params, batch):
    return jnp.mean((batch["x"] @ params["w"] - batch["y"]) ** 2)


@partial(jax.pmap, axis_name="batch")
def train_step(params, opt_state, batch):
    loss, grads = jax.value_and_grad(loss_fn)(params, batch)
    updates, opt_state = tx.update(grads, opt_state, params)  # finding
    params = optax.apply_updates(params, updates)
    return params, opt_state, jax.lax.pmean(loss, "batch")


def shard(batch, n):
    return {k: v.reshape(n, -1, *v.shape[1:]) for k, v in batch.items()}


def main():
    n = jax.local_device_count()
    params = {"w": jnp.zeros(3)}
    replicate = lambda tree: jax.tree.map(lambda x: jnp.stack([x] * n), tree)
    params, opt_state = replicate(params), replicate(tx.init(params))
    batch = shard({"x": np.ones((4 * n, 3)), "y": np.arange(4.0 * n)}, n)
    for _ in range(3):
        params, opt_state, loss = train_step(params, opt_state, batch)
    return loss


if __name__ == "__main__":
    print(main())
