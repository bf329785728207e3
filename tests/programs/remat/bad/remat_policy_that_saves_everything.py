# source: AI-Hypercomputer/maxtext#3924
# blind: fifth

import functools

import jax
import jax.numpy as jnp


def attention(w, x):
    scores = jax.nn.softmax(x @ w["qk"] @ x.T, axis=-1)
    return scores @ x @ w["v"]


@functools.partial(jax.checkpoint, policy=jax.checkpoint_policies.everything_saveable)  # finding
def block(w, x):
    x = x + attention(w, x)
    return x + jax.nn.gelu(x @ w["up"]) @ w["down"]


def loss(layers, x):
    for w in layers:
        x = block(w, x)
    return jnp.mean(x**2)


grad_fn = jax.jit(jax.grad(loss))


if __name__ == "__main__":
    d = 16
    w = {
        "qk": jnp.eye(d) * 0.1, "v": jnp.eye(d), "up": jnp.ones((d, 4 * d)) * 0.01, "down": jnp.ones((4 * d, d)) * 0.01,
    }
    print(jax.tree.map(jnp.shape, grad_fn([w, w], jnp.ones((8, d)))))
