# source: huggingface/diffusers#2155

import math

import jax
import jax.numpy as jnp
import numpy as np


def attention(q, k, v):
    scale = math.sqrt(q.shape[-1])
    logits = (q @ k.swapaxes(-1, -2)).astype(jnp.float32) / scale
    return jax.nn.softmax(logits, axis=-1).astype(v.dtype) @ v


def rms_norm(x, weight, eps=1e-6):
    y = x.astype(jnp.float32)
    y = y * jax.lax.rsqrt(jnp.mean(y * y, axis=-1, keepdims=True) + eps)
    return weight * y.astype(x.dtype)


def pixels(images):
    return (images.astype(jnp.bfloat16) - 128) / np.float32(64.0).item()


@jax.jit
def forward(params, images):
    x = pixels(images)
    x = rms_norm(x, params["norm"])
    return x + attention(x, x, x)


params = {"norm": jnp.ones(16, jnp.bfloat16)}
out = forward(params, jnp.ones((2, 4, 16), jnp.uint8))
assert out.dtype == jnp.bfloat16
