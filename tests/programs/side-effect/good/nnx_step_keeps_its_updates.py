# blind: sixteenth

"""Classifier with dropout and batch normalisation in flax.nnx."""

import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx


class Net(nnx.Module):
    def __init__(self, din, hidden, classes, rngs: nnx.Rngs):
        self.l1 = nnx.Linear(din, hidden, rngs=rngs)
        self.bn = nnx.BatchNorm(hidden, rngs=rngs)
        self.drop = nnx.Dropout(0.2, rngs=rngs)
        self.l2 = nnx.Linear(hidden, classes, rngs=rngs)

    def __call__(self, x):
        x = nnx.relu(self.bn(self.l1(x)))
        return self.l2(self.drop(x))


def loss_fn(model, x, y):
    logits = model(x)
    loss = optax.softmax_cross_entropy_with_integer_labels(logits, y).mean()
    return loss, logits


@nnx.jit  # finding-other
def train_step(model, optimizer, metrics, x, y):
    (loss, logits), grads = nnx.value_and_grad(loss_fn, has_aux=True)(model, x, y)
    metrics.update(loss=loss, logits=logits, labels=y)
    optimizer.update(model, grads)


@nnx.jit
def eval_step(model, metrics, x, y):
    loss, logits = loss_fn(model, x, y)
    metrics.update(loss=loss, logits=logits, labels=y)


def main():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(512, 20)).astype(np.float32)
    y = x[:, :4].argmax(1)
    model = Net(20, 64, 4, nnx.Rngs(0))
    optimizer = nnx.Optimizer(model, optax.adamw(1e-3), wrt=nnx.Param)
    metrics = nnx.MultiMetric(accuracy=nnx.metrics.Accuracy(), loss=nnx.metrics.Average("loss"))
    for epoch in range(3):
        model.train()
        for i in range(0, 384, 64):
            train_step(model, optimizer, metrics, x[i : i + 64], y[i : i + 64])
        train = metrics.compute()
        metrics.reset()
        model.eval()
        for i in range(384, 512, 64):
            eval_step(model, metrics, x[i : i + 64], y[i : i + 64])
        test = metrics.compute()
        metrics.reset()
        print(epoch, train["loss"], test["accuracy"])


if __name__ == "__main__":
    main()
