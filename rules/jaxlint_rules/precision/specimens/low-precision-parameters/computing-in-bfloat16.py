# computing in bfloat16

import flax.linen as nn
import jax
import jax.numpy as jnp

class Model(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.Dense(256, dtype=jnp.bfloat16)(x)
        return nn.Dense(8, dtype=jnp.bfloat16, param_dtype=jnp.float32)(x)

@jax.jit
def step(params, x):
    return jax.grad(lambda params: Model().apply(params, x).mean())(params)
