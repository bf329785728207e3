# blind: tenth

import jax
import jax.numpy as jnp


def loss(params, batch):
    logits = batch["x"] @ params
    return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(logits), batch["y"][:, None], axis=1))


batch = {"x": jnp.ones((4, 3)), "y": jnp.zeros(4, jnp.int32)}
print(jax.grad(loss)(jnp.ones((3, 2)), batch))
