# source: jax-ml/jax#7989
# blind: first

import functools

import jax
import jax.numpy as jnp
from jax.ad_checkpoint import checkpoint_name

POLICY = jax.checkpoint_policies.save_only_these_names("mlp_out")


@functools.partial(jax.checkpoint, policy=POLICY, static_argnums=(2,))
def block(x, w, gated):
    h = checkpoint_name(jax.nn.gelu(x @ w), "mlp_out")
    return x + h * jax.nn.sigmoid(h) if gated else x + h


def forward(ws, x):
    def body(x, w):
        return jax.checkpoint(lambda x, w: x + jnp.tanh(x @ w), prevent_cse=False)(x, w), None

    x, _ = jax.lax.scan(body, x, ws)
    for w in (ws[0], ws[1]):
        x = block(x, w, True)
    return x


@jax.jit
def grads(ws, x):
    return jax.grad(lambda ws: jnp.sum(forward(ws, x)))(ws)


if __name__ == "__main__":
    print(grads(jnp.ones((4, 3, 3)), jnp.ones((2, 3))).shape)
