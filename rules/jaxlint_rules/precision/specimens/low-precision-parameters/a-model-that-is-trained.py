# a model that is trained

import flax.linen as nn
import jax
import jax.numpy as jnp

class Model(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.Dense(256, param_dtype=jnp.bfloat16)(x)  # finding
        return nn.Dense(8, dtype=jnp.bfloat16, param_dtype="float16")(x)  # finding

@jax.jit
def step(params, x):
    return jax.grad(lambda params: Model().apply(params, x).mean())(params)
