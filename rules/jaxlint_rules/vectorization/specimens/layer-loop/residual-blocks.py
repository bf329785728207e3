# residual blocks

import jax
import jax.numpy as jnp

def block(layer, h):
    return h + jax.nn.gelu(h @ layer["up"]) @ layer["down"]

@jax.jit
def forward(layers, h):
    for layer in layers:  # finding
        h = block(layer, h)
    return h

def apply(params, tokens):
    x = params["embed"][tokens]
    for p in params["blocks"]:  # finding
        x = x + attend(p["attn"], x)
        x = x + jax.nn.relu(x @ p["w1"]) @ p["w2"]
    return x @ params["out"]

def attend(p, x):
    return jax.nn.softmax((x @ p["q"]) @ (x @ p["k"]).T) @ (x @ p["v"])

loss = jax.jit(lambda params, tokens: apply(params, tokens).mean())
