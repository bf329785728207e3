# source: huggingface/diffusers#2155

import jax
import jax.numpy as jnp
import numpy as np


def attention(q, k, v):
    scale = np.sqrt(q.shape[-1])
    weights = jax.nn.softmax((q @ k.swapaxes(-1, -2)) / scale, axis=-1)  # finding
    return weights @ v


def forward(params, x):
    q, k, v = (x @ params[name] for name in ("q", "k", "v"))
    return x + attention(q, k, v)


@jax.jit
def run(params, x):
    return forward(params, x)


params = {name: jnp.eye(16, dtype=jnp.bfloat16) for name in ("q", "k", "v")}
out = run(params, jnp.ones((2, 4, 16), jnp.bfloat16))
print(out.dtype)
