# source: jax-ml/jax#616
# blind: eighth

import jax
import jax.numpy as jnp


@jax.jit
def layer_norm(x, scale):
    x = x.astype(jnp.float16)
    mean = x.mean(-1, keepdims=True)
    var = ((x - mean) ** 2).mean(-1, keepdims=True)
    return (x - mean) / jnp.sqrt(var + 1e-8) * scale.astype(jnp.float16)  # finding


if __name__ == "__main__":
    print(layer_norm(jnp.ones((2, 4)), jnp.ones(4)))
