# source: jax-ml/jax#25186

import jax
import jax.numpy as jnp


def init(key, depth, width):
    keys = jax.random.split(key, depth)
    return {f"layer_{i}": jax.random.normal(keys[i], (width, width)) for i in range(depth)}


def apply(params, x):
    depth = len(params)

    def body(i, h):
        w = params[f"layer_{i}"]  # finding
        return jnp.tanh(h @ w)

    return jax.lax.fori_loop(0, depth, body, x)


def main():
    params = init(jax.random.key(0), 3, 4)
    print(apply(params, jnp.ones((2, 4))))


main()
