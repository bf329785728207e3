# source: jax-ml/jax#11078
# blind: first

import timeit

import jax
import jax.numpy as jnp


def layer_norm(x, eps=1e-6):
    mean = x.mean(-1, keepdims=True)
    var = x.var(-1, keepdims=True)
    return (x - mean) * jax.lax.rsqrt(var + eps)


fused = jax.jit(layer_norm)


def bench(shape, repeat=100):
    x = jnp.ones(shape)
    fused(x)
    seconds = timeit.timeit(lambda: fused(x), number=repeat)  # finding
    return seconds / repeat


if __name__ == "__main__":
    print(bench((256, 512)))
