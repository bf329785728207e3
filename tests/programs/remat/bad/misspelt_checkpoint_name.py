# source: google/maxtext#700
# blind: first

import functools

import jax
import jax.numpy as jnp
from jax.ad_checkpoint import checkpoint_name

POLICY = jax.checkpoint_policies.save_only_these_names("attn_out", "mlp_out")  # finding-also


@functools.partial(jax.checkpoint, policy=POLICY)
def block(x, params):
    attn = checkpoint_name(jax.nn.softmax(x @ params["a"]) @ x.T @ x, "attention_out")  # finding
    h = x + attn
    return h + checkpoint_name(jax.nn.gelu(h @ params["m"]), "mlp_out")


@jax.jit
def grads(params, x):
    return jax.grad(lambda p: jnp.sum(block(block(x, p), p) ** 2))(params)


if __name__ == "__main__":
    p = {"a": jnp.ones((4, 4)), "m": jnp.eye(4)}
    print(grads(p, jnp.ones((4, 4)))["m"].shape)
