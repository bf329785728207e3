# source: apple/axlearn#1171
# blind: first

import jax
import jax.numpy as jnp


def layer(x, w):
    return x + jnp.tanh(x @ w), None


@jax.jit
def grads(ws, x):
    body = jax.checkpoint(layer, prevent_cse=False, policy=jax.checkpoint_policies.dots_saveable)
    return jax.grad(lambda ws: jnp.mean(jax.lax.scan(body, x, ws)[0] ** 2))(ws)


if __name__ == "__main__":
    print(grads(jnp.ones((24, 64, 64)) / 64, jnp.ones((8, 64))).shape)
