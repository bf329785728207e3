# source: jax-ml/jax#8283
# blind: first

import jax
import jax.numpy as jnp


def flatten_spatial(x):
    batch, *spatial, channels = x.shape
    n = jnp.prod(jnp.array(spatial))
    return x.reshape(batch, n, channels)  # finding


def attend(x, w):
    tokens = flatten_spatial(x)
    scores = jax.nn.softmax(tokens @ w @ tokens.swapaxes(1, 2))
    return scores @ tokens


attend_jit = jax.jit(attend)

if __name__ == "__main__":
    print(attend_jit(jnp.ones((2, 4, 4, 8)), jnp.eye(8)).shape)
