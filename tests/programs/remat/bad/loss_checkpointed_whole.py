# source: jax-ml/jax#7989
# blind: first

import jax
import jax.numpy as jnp


def block(x, w):
    return x + jax.nn.gelu(x @ w)


def loss_fn(params, x, y):
    for w in params["blocks"]:
        x = block(x, w)
    return jnp.mean((x @ params["head"] - y) ** 2)


@jax.jit
def grads(params, x, y):
    return jax.grad(jax.checkpoint(loss_fn))(params, x, y)  # finding


if __name__ == "__main__":
    p = {"blocks": [jnp.eye(4)] * 3, "head": jnp.ones(4)}
    grads(p, jnp.ones((2, 4)), jnp.ones(2))
