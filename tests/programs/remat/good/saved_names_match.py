# source: jax-ml/jax#13756
# blind: seventh

"""A transformer block that keeps only what attention and the MLP give."""

import jax
import jax.numpy as jnp
from jax.ad_checkpoint import checkpoint_name

policy = jax.checkpoint_policies.save_only_these_names("attn_out", "mlp_out")


def attention(w, x):
    q, k, v = (x @ w[n] for n in ("q", "k", "v"))
    scores = jax.nn.softmax(q @ k.swapaxes(-1, -2) / q.shape[-1] ** 0.5)
    return checkpoint_name(scores @ v, "attn_out")


def mlp(w, x):
    return checkpoint_name(jax.nn.gelu(x @ w["up"]) @ w["down"], "mlp_out")


def block(w, x):
    x = x + attention(w, x)
    return x + mlp(w, x)


def loss(weights, x):
    def body(x, w):
        return jax.checkpoint(block, policy=policy, prevent_cse=False)(w, x), None

    x, _ = jax.lax.scan(body, x, weights)
    return jnp.mean(x**2)


def main():
    d = 16
    keys = jax.random.split(jax.random.key(0), 5)
    shapes = {"q": (d, d), "k": (d, d), "v": (d, d), "up": (d, 4 * d), "down": (4 * d, d)}
    w = {n: 0.1 * jax.random.normal(k, (2, *s)) for k, (n, s) in zip(keys, shapes.items())}
    print(jax.jit(jax.grad(loss))(w, jnp.ones((2, 8, d)))["q"].shape)


if __name__ == "__main__":
    main()
