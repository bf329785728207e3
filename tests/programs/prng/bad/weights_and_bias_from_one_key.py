# source: google/flax#2593
# blind: eighth

import jax
import jax.numpy as jnp


def init_layer(key, d_in, d_out):
    w = jax.random.normal(key, (d_in, d_out)) / jnp.sqrt(d_in)  # finding-also
    b = jax.random.normal(key, (d_out,)) * 0.01  # finding
    return {"w": w, "b": b}


def init_mlp(key, sizes):
    keys = jax.random.split(key, len(sizes) - 1)
    return [init_layer(k, a, b) for k, a, b in zip(keys, sizes[:-1], sizes[1:])]


if __name__ == "__main__":
    print(len(init_mlp(jax.random.key(0), [4, 8, 2])))
