# source: google/flax#4146

import jax
import jax.numpy as jnp
import optax
from flax import nnx


class Counter(nnx.Variable):
    pass


class Net(nnx.Module):
    def __init__(self, rngs):
        self.linear = nnx.Linear(3, 1, rngs=rngs)
        self.dropout = nnx.Dropout(0.1, rngs=rngs)
        self.calls = Counter(jnp.array(0))

    def __call__(self, x):
        self.calls.value = self.calls.value + 1
        return self.dropout(self.linear(x))


@nnx.jit  # finding-other
def train_step(model, optimizer, x, y):
    def loss_fn(model):
        return jnp.mean((model(x)[:, 0] - y) ** 2)

    loss, grads = nnx.value_and_grad(loss_fn)(model)
    optimizer.update(model, grads)
    return loss


model = Net(nnx.Rngs(0))
optimizer = nnx.Optimizer(model, optax.sgd(0.1), wrt=nnx.Param)
for _ in range(3):
    loss = train_step(model, optimizer, jnp.ones((4, 3)), jnp.zeros(4))
print(loss, model.calls.value)
