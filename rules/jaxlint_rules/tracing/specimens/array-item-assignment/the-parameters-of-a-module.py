# the parameters of a module

import flax.linen as nn
import jax.numpy as jnp

class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(2, name="head")(x)

def zeroed(params):
    params["head"]["kernel"][0] = 0.0  # finding
    params["head"]["bias"] = jnp.zeros(2)
    return params

def main(key):
    variables = Net().init(key, jnp.ones((1, 3)))
    variables["params"]["head"]["kernel"][:, 0] = 1.0  # finding
    return zeroed(variables["params"])
