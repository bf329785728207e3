# blind: tenth
# missed: how large the terms of a sum are is not asked

import jax
import jax.numpy as jnp


def rms_norm(x, weight, eps=1e-5):
    energy = jnp.sum(x * x, axis=-1, keepdims=True) / x.shape[-1]  # finding
    return x * jax.lax.rsqrt(energy + eps) * weight


def block(x, weight, kernel):
    return rms_norm(x, weight) @ kernel


x = jnp.full((2, 8192), 4.0, jnp.float16)
weight = jnp.ones((8192,), jnp.float16)
kernel = jnp.full((8192, 4), 0.01, jnp.float16)
print(jax.jit(block)(x, weight, kernel))
