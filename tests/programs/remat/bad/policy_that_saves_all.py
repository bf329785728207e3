# source: AI-Hypercomputer/maxtext#3924
# blind: first

import jax
import jax.numpy as jnp

POLICIES = {
    "full": jax.checkpoint_policies.everything_saveable,  # finding-also
    "dots": jax.checkpoint_policies.dots_saveable,
}


def layer(x, w):
    return jax.nn.gelu(x @ w), None


def loss(ws, x):
    body = jax.checkpoint(layer, policy=jax.checkpoint_policies.everything_saveable, prevent_cse=False)  # finding
    h, _ = jax.lax.scan(body, x, ws)
    return jnp.mean(h**2)


if __name__ == "__main__":
    print(jax.grad(loss)(jnp.ones((12, 32, 32)) / 32, jnp.ones((4, 32))).shape)
