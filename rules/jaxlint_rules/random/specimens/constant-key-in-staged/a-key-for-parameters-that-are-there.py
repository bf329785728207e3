# a key for the stream of parameters, which are there already

import flax.linen as nn
import jax

class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(4)(x)

@jax.jit
def forward(params, x):
    return Net().apply({"params": params}, x, rngs={"params": jax.random.key(0)})
