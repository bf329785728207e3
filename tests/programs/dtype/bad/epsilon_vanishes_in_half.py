# source: google/flax#1502
# blind: first

import flax.linen as nn
import jax
import jax.numpy as jnp


class RMSNorm(nn.Module):
    dtype: jnp.dtype = jnp.float16

    @nn.compact
    def __call__(self, x):
        scale = self.param("scale", nn.initializers.ones, (x.shape[-1],))
        x = x.astype(jnp.float16)
        ms = jnp.mean(x * x, axis=-1, keepdims=True)
        return x / jnp.sqrt(ms + 1e-8) * scale.astype(jnp.float16)  # finding


if __name__ == "__main__":
    m = RMSNorm()
    x = jnp.zeros((2, 4), jnp.float16)
    print(m.apply(m.init(jax.random.key(0), x), x))
