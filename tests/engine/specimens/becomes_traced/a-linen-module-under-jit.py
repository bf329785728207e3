# a linen module under jit
import flax.linen as nn
import jax
import jax.numpy as jnp

class Net(nn.Module):
    width: int = 4
    use_bias: bool = True

    @nn.compact
    def __call__(self, x, train=False):
        if train:
            x = x * 0.5
        if self.use_bias and x.shape[0] > 1:
            x = x + 1
        return nn.Dense(self.width)(x)

net = Net()
x = jnp.ones((2, 3))
variables = net.init(jax.random.key(0), x)
jax.jit(net.apply)(variables, x)
jax.jit(net.apply, static_argnames="train")(variables, x, train=True)
