# a linen module that branches on its input
import flax.linen as nn
import jax
import jax.numpy as jnp

class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        if x.sum() > 0:  # finding: tracer-branch
            x = -x
        return nn.Dense(4)(x)

net = Net()
x = jnp.ones((2, 3))

@jax.jit
def forward(variables, x):
    return net.apply(variables, x)

forward({"params": {"Dense_0": {"kernel": jnp.ones((3, 4)), "bias": jnp.ones(4)}}}, x)
