# source: google/flax#3204
# blind: first

import flax.linen as nn
import jax
import jax.numpy as jnp
from flax import nnx


class Counter(nnx.Variable):
    pass


class Net(nnx.Module):
    def __init__(self, rngs):
        self.linear = nnx.Linear(3, 2, rngs=rngs)
        self.calls = Counter(jnp.array(0))

    def __call__(self, x):
        self.calls.value += 1
        return self.linear(x)


class Stat(nn.Module):
    @nn.compact
    def __call__(self, x, update):
        mean = self.variable("batch_stats", "mean", jnp.zeros, x.shape[-1:])
        if update:
            mean.value = 0.9 * mean.value + 0.1 * x.mean(0)
        self.sow("intermediates", "mean", mean.value)
        return x - mean.value


@nnx.jit
def forward(model, x):
    return model(x)


if __name__ == "__main__":
    print(forward(Net(nnx.Rngs(0)), jnp.ones((1, 3))))
    s = Stat()
    v = s.init(jax.random.key(0), jnp.ones((2, 3)), True)
    print(s.apply(v, jnp.ones((2, 3)), True, mutable=["batch_stats", "intermediates"])[1])
