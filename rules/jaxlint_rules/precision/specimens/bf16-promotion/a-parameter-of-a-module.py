# a parameter of a module

import flax.linen as nn
import jax.numpy as jnp

class Scale(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = x.astype(jnp.bfloat16)
        scale = self.param("scale", nn.initializers.ones, (x.shape[-1],))
        return x * scale  # finding

class Cast(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = x.astype(jnp.bfloat16)
        scale = self.param("scale", nn.initializers.ones, (x.shape[-1],))
        bias = self.param("bias", nn.initializers.zeros, (x.shape[-1],), jnp.bfloat16)
        return x * scale.astype(x.dtype) + bias

class Wide(nn.Module):
    @nn.compact
    def __call__(self, x):
        scale = self.param("scale", nn.initializers.normal(0.1), (x.shape[-1],))
        return (x.astype(jnp.bfloat16) * scale).astype(jnp.bfloat16), x * scale
