# source: jax-ml/jax#14126
# blind: first

import jax
import jax.numpy as jnp
import numpy as np


def attention(q, k, v):
    scale = q.shape[-1] ** -0.5
    logits = jnp.einsum("qd,kd->qk", q, k, preferred_element_type=jnp.float32) * scale
    weights = jax.nn.softmax(logits, axis=-1).astype(q.dtype)
    return weights @ v


def rms(x):
    x32 = x.astype(jnp.float32)
    return (x32 * jax.lax.rsqrt(jnp.mean(x32**2, -1, keepdims=True) + 1e-8)).astype(x.dtype)


def psnr(a, b):
    mse = jnp.mean(jnp.square(a.astype(jnp.float32) - b.astype(jnp.float32)))
    return -10 * jnp.log10(mse)


if __name__ == "__main__":
    x = jnp.ones((4, 8), jnp.bfloat16)
    print(attention(rms(x), x, x).dtype, psnr(jnp.zeros(4, jnp.uint8), jnp.ones(4, jnp.uint8)))
    print(np.float64(0.5) * np.ones(3), np.zeros(3, dtype="float64"))
