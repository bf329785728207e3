# a flag that callers pass as a literal
import flax.linen as nn
import jax
import jax.numpy as jnp

class Net(nn.Module):
    @nn.compact
    def __call__(self, x, train: bool):
        if train:
            x = x + 1
        return nn.Dropout(0.5, deterministic=not train)(x)

net = Net()

@jax.jit
def evaluate(x):
    return net.apply({}, x, train=False)

evaluate(jnp.ones(3))
