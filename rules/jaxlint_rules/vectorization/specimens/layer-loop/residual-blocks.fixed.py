# residual blocks

import jax
import jax.numpy as jnp

def block(layer, h):
    return h + jax.nn.gelu(h @ layer["up"]) @ layer["down"]

@jax.jit
def forward(layers, h):
    if len(layers) > 0:
        def body_fun(h, layer):
            h = block(layer, h)
            return h, None

        h, _ = jax.lax.scan(
            body_fun,
            h,
            jax.tree.map(lambda *leaves: jnp.stack(leaves), *layers),
        )
    return h

def apply(params, tokens):
    x = params["embed"][tokens]
    if len(params["blocks"]) > 0:
        def body_fun(x, p):
            x = x + attend(p["attn"], x)
            x = x + jax.nn.relu(x @ p["w1"]) @ p["w2"]
            return x, None

        x, _ = jax.lax.scan(
            body_fun,
            x,
            jax.tree.map(lambda *leaves: jnp.stack(leaves), *params["blocks"]),
        )
    return x @ params["out"]

def attend(p, x):
    return jax.nn.softmax((x @ p["q"]) @ (x @ p["k"]).T) @ (x @ p["v"])

loss = jax.jit(lambda params, tokens: apply(params, tokens).mean())
