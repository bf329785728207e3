# a gradient that is shown and not applied
import flax.linen as nn
import jax
import jax.numpy as jnp


class Net(nn.Module):
    @nn.compact
    def __call__(self, x, train):
        return nn.Dense(1)(nn.BatchNorm(use_running_average=not train)(x))


def main(x):
    net = Net()
    variables = net.init(jax.random.key(0), x, True)

    def loss_fn(params):
        y, _ = net.apply({**variables, "params": params}, x, True, mutable=["batch_stats"])
        return jnp.mean(y**2)

    print(jax.grad(loss_fn)(variables["params"]))
