# metrics of nnx

import jax.numpy as jnp
import optax
from flax import nnx

class Net(nnx.Module):
    def __init__(self, rngs):
        self.hidden = nnx.Linear(64, 512, rngs=rngs)
        self.out = nnx.Linear(512, 10, rngs=rngs)

    def __call__(self, x):
        return self.out(nnx.relu(self.hidden(x)))

def loss_fn(model, x, y):
    return optax.softmax_cross_entropy_with_integer_labels(model(x), y).mean()

@nnx.jit(donate_argnums=(0, 1))
def train_step(model, optimizer, metrics, x, y):
    loss, grads = nnx.value_and_grad(loss_fn)(model, x, y)
    metrics.update(loss=loss)
    optimizer.update(model, grads)

def make():
    model = Net(nnx.Rngs(0))
    return model, nnx.Optimizer(model, optax.adam(1e-3), wrt=nnx.Param)

def each_step(loader):
    model, optimizer = make()
    metrics = nnx.MultiMetric(loss=nnx.metrics.Average("loss"))
    for step, (x, y) in enumerate(loader):
        train_step(model, optimizer, metrics, x, y)
        computed = metrics.compute()
        print(f"step {step}, loss {computed['loss']:.4f}")  # finding

def one_mean(loader):
    model, optimizer = make()
    metric = nnx.metrics.Average("loss")
    losses = []
    for x, y in loader:
        train_step(model, optimizer, metric, x, y)
        losses.append(float(metric.compute()))  # finding

def now_and_then(loader):
    model, optimizer = make()
    metrics = nnx.metrics.MultiMetric(loss=nnx.metrics.Average("loss"))
    for step, (x, y) in enumerate(loader):
        train_step(model, optimizer, metrics, x, y)
        if step % 100 == 0:
            print(step, {name: float(value) for name, value in metrics.compute().items()})
            metrics.reset()

def of_the_host(rows):
    metric = nnx.metrics.Average("length")
    for row in rows:
        metric.update(length=len(row))
    return float(metric.compute())
