# a model that is only run

import flax.linen as nn
import jax
import jax.numpy as jnp

model = nn.Dense(256, param_dtype=jnp.bfloat16)
run = jax.jit(model.apply)
