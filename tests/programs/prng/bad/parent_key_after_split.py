# source: jax-ml/jax#4874
# blind: first

import jax
import jax.numpy as jnp


def init_block(key, width):
    k_attn, k_mlp = jax.random.split(key)
    return {
        "qkv": jax.random.normal(k_attn, (width, 3 * width)) * 0.02,
        "mlp": jax.random.normal(k_mlp, (width, 4 * width)) * 0.02,
        "out": jax.random.normal(key, (width, width)) * 0.02,  # finding
    }


def init(key, width, depth):
    return [init_block(k, width) for k in jax.random.split(key, depth)]


if __name__ == "__main__":
    print(jax.tree.map(jnp.shape, init(jax.random.key(0), 8, 2)))
