# source: jax-ml/jax#1709
# blind: first
# missed: not found yet

import flax.linen as nn
import jax
import jax.numpy as jnp


class Standardise(nn.Module):
    @nn.compact
    def __call__(self, x):
        gain = self.param("gain", nn.initializers.ones, (x.shape[-1],))
        spread = jnp.sqrt(jnp.var(x, axis=-1, keepdims=True))  # finding
        return gain * (x - x.mean(-1, keepdims=True)) / (spread + 1e-6)


class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(1)(Standardise()(nn.relu(nn.Dense(4)(x))))


net = Net()


@jax.jit
def loss_grad(params, x):
    return jax.grad(lambda p: jnp.mean(net.apply(p, x) ** 2))(params)


if __name__ == "__main__":
    x = jnp.zeros((2, 3))
    print(loss_grad(net.init(jax.random.key(0), x), x))
