# source: jax-ml/jax#7989

import functools

import jax
import jax.numpy as jnp
from jax.ad_checkpoint import checkpoint_name


def block(x, w):
    h = checkpoint_name(jnp.sin(x @ w["up"]), "hidden")
    return x + h @ w["down"], None


save_hidden = jax.checkpoint_policies.save_only_these_names("hidden")
rematted = functools.partial(jax.checkpoint, policy=save_hidden, prevent_cse=False)(block)


@jax.jit
def loss(ws, x):
    return jnp.sum(jax.lax.scan(rematted, x, ws)[0] ** 2)


if __name__ == "__main__":
    ws = {"up": jnp.ones((3, 4, 8)) * 0.1, "down": jnp.ones((3, 8, 4)) * 0.1}
    print(jax.grad(loss)(ws, jnp.ones((2, 4)))["up"].shape)
