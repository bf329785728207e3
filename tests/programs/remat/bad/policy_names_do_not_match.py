# source: jax-ml/jax#26374

import functools

import jax
import jax.numpy as jnp
from jax.ad_checkpoint import checkpoint_name

SAVED = ("attn_out", "mlp_out")


def attention(x, w):
    scores = jax.nn.softmax(x @ w["q"] @ (x @ w["k"]).T)
    return checkpoint_name(scores @ (x @ w["v"]), "attention_out")


def mlp(x, w):
    return checkpoint_name(jnp.sin(x @ w["up"]) @ w["down"], "ffn_out")


@functools.partial(
    jax.checkpoint, policy=jax.checkpoint_policies.save_only_these_names(*SAVED)  # finding
)
def layer(x, w):
    x = x + attention(x, w)
    return x + mlp(x, w)


def loss(ws, x):
    for w in ws:
        x = layer(x, w)
    return jnp.sum(x**2)


if __name__ == "__main__":
    w = {k: jnp.eye(4) * 0.1 for k in ("q", "k", "v", "up", "down")}
    print(jax.grad(loss)([w, w], jnp.ones((3, 4)))[0]["q"][0])
