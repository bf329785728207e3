# source: deepmind/dm-haiku#91
# blind: first

import jax
import jax.numpy as jnp


def init(key, depth, width):
    keys = jax.random.split(key, depth)
    return {f"layer_{i}": jax.random.normal(k, (width, width)) for i, k in enumerate(keys)}


@jax.jit
def forward(params, x):
    def apply(i, h):
        return jnp.tanh(h @ params[f"layer_{i}"])  # finding

    return jax.lax.fori_loop(0, len(params), apply, x)


if __name__ == "__main__":
    print(forward(init(jax.random.key(0), 3, 4), jnp.ones((2, 4))))
