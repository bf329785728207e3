# source: AI-Hypercomputer/maxtext#3924

import functools

import jax
import jax.numpy as jnp

POLICIES = {
    "full": jax.checkpoint_policies.everything_saveable,  # finding-also
    "dots": jax.checkpoint_policies.dots_saveable,
}


def block(x, w):
    h = jnp.sin(x @ w["up"])
    return x + jnp.cos(h) @ w["down"]


def remat_block(name):
    return functools.partial(jax.checkpoint, policy=POLICIES[name])(block)


def forward(weights, x):
    layer = jax.checkpoint(block, policy=jax.checkpoint_policies.everything_saveable)  # finding
    for w in weights:
        x = layer(x, w)
    return jnp.sum(x**2)


if __name__ == "__main__":
    weights = [{"up": jnp.ones((4, 8)) * 0.1, "down": jnp.ones((8, 4)) * 0.1}] * 3
    print(jax.grad(forward)(weights, jnp.ones((2, 4)))[0]["up"][0])
