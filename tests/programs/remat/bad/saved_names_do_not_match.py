# source: jax-ml/jax#13756
# blind: seventh

"""A transformer block that should keep only what attention and the MLP give."""

import jax
import jax.numpy as jnp
from jax.ad_checkpoint import checkpoint_name

policy = jax.checkpoint_policies.save_only_these_names("attention_out", "mlp_out")  # finding


def attention(w, x):
    q, k, v = (x @ w[n] for n in ("q", "k", "v"))
    scores = jax.nn.softmax(q @ k.swapaxes(-1, -2) / q.shape[-1] ** 0.5)
    return checkpoint_name(scores @ v, "attn_out")  # finding-also


def mlp(w, x):
    return checkpoint_name(jax.nn.gelu(x @ w["up"]) @ w["down"], "mlp_out")


def block(w, x):
    x = x + attention(w, x)
    return x + mlp(w, x)


def loss(weights, x):
    run = jax.checkpoint(block, policy=policy)
    for w in weights:
        x = run(w, x)
    return jnp.mean(x**2)


def main():
    d = 16
    keys = jax.random.split(jax.random.key(0), 5)
    shapes = {"q": (d, d), "k": (d, d), "v": (d, d), "up": (d, 4 * d), "down": (4 * d, d)}
    w = {n: 0.1 * jax.random.normal(k, s) for k, (n, s) in zip(keys, shapes.items())}
    print(jax.jit(jax.grad(loss))([w, w], jnp.ones((2, 8, d)))[0]["q"].shape)


if __name__ == "__main__":
    main()
