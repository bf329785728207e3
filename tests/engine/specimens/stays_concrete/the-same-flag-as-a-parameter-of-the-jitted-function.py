# the same flag as a parameter of the jitted function
import flax.linen as nn
import jax
import jax.numpy as jnp

class Net(nn.Module):
    @nn.compact
    def __call__(self, x, train: bool):
        if train:  # finding: tracer-branch
            x = x + 1
        return x

net = Net()

@jax.jit
def evaluate(x, train):
    return net.apply({}, x, train=train)

evaluate(jnp.ones(3), True)
