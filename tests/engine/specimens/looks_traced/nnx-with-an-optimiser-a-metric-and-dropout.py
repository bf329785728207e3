# nnx with an optimiser, a metric and dropout
import jax
import jax.numpy as jnp
import optax
from flax import nnx

class Net(nnx.Module):
    def __init__(self, rngs: nnx.Rngs):
        self.linear = nnx.Linear(2, 2, rngs=rngs)
        self.dropout = nnx.Dropout(0.1, rngs=rngs)
        self.count = nnx.Variable(jnp.zeros(()))
        self.tied = False

    def __call__(self, x):
        self.count.value += 1
        x = self.dropout(self.linear(x))
        return x if not self.tied else x @ self.linear.kernel.value

def loss_fn(model, batch):
    loss = (model(batch) ** 2).mean()
    return loss, {"batch": batch.shape[0]}

@nnx.jit
def train_step(model, optimizer, batch):
    (loss, aux), grads = nnx.value_and_grad(loss_fn, has_aux=True)(model, batch)
    optimizer.update(model, grads)
    if aux["batch"] > 1 and not model.tied:
        loss = loss * 2
    return loss

model = Net(nnx.Rngs(0))
optimizer = nnx.Optimizer(model, optax.adam(1e-3), wrt=nnx.Param)
losses = [train_step(model, optimizer, jnp.ones((2, 2))) for _ in range(2)]
if losses[-1] < losses[0]:
    print(float(losses[-1]))
