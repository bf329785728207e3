# blind: tenth
# missed: a product of a column and a row is often meant

import jax
import jax.numpy as jnp


def masked_loss(params, batch):
    pred = (batch["x"] @ params)[:, 0]
    error = jnp.square(pred - batch["y"])
    return jnp.sum(error * batch["mask"]) / jnp.sum(batch["mask"])  # finding


n = 32
batch = {"x": jnp.ones((n, 4)), "y": jnp.zeros(n), "mask": jnp.ones((n, 1))}
print(jax.grad(masked_loss)(jnp.ones((4, 1)), batch))
