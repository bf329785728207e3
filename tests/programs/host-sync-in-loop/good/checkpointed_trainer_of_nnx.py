# source: google/flax#3997
# blind: second

import json
import pathlib
import tempfile

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx


class Residual(nnx.Module):
    def __init__(self, width, *, rngs):
        self.norm = nnx.LayerNorm(width, rngs=rngs)
        self.linear = nnx.Linear(width, width, rngs=rngs)
        self.dropout = nnx.Dropout(0.1, rngs=rngs)

    def __call__(self, x):
        return x + self.dropout(nnx.gelu(self.linear(self.norm(x))))


class Regressor(nnx.Module):
    def __init__(self, din, width, depth, *, rngs):
        self.inp = nnx.Linear(din, width, rngs=rngs)
        self.blocks = nnx.List([Residual(width, rngs=rngs) for _ in range(depth)])
        self.out = nnx.Linear(width, 1, rngs=rngs)

    def __call__(self, x):
        x = self.inp(x)
        for block in self.blocks:  # finding-other
            x = block(x)
        return self.out(x)[..., 0]


@nnx.jit  # finding-other
def train_step(model, optimizer, metrics, x, y):
    def loss_fn(model):
        return jnp.mean((model(x) - y) ** 2)

    loss, grads = nnx.value_and_grad(loss_fn)(model)
    optimizer.update(model, grads)
    metrics.update(loss=loss)


@nnx.jit
def predict(model, x):
    return model(x)


class Trainer:
    def __init__(self, folder, epochs):
        self.folder = pathlib.Path(folder)
        self.epochs = epochs
        self.model = Regressor(4, 16, 2, rngs=nnx.Rngs(0, dropout=1))
        self.optimizer = nnx.Optimizer(self.model, optax.adamw(1e-3), wrt=nnx.Param)
        self.metrics = nnx.MultiMetric(loss=nnx.metrics.Average("loss"))

    def epoch(self, batches):
        self.model.train()
        self.metrics.reset()
        for x, y in batches:
            train_step(self.model, self.optimizer, self.metrics, x, y)
        return float(self.metrics.compute()["loss"])

    def save(self, number, loss):
        state = nnx.to_pure_dict(nnx.state(self.model, nnx.Param))
        leaves = jax.tree.leaves(state)
        np.savez(self.folder / f"{number}.npz", *[np.asarray(leaf) for leaf in leaves])
        (self.folder / "log.json").write_text(json.dumps({"epoch": number, "loss": loss}))

    def fit(self, batches):
        best = float("inf")
        for number in range(self.epochs):
            loss = self.epoch(batches)
            if loss < best:
                best = loss
                self.save(number, loss)
        self.model.eval()
        return best


if __name__ == "__main__":
    xs = jax.random.normal(jax.random.key(0), (4, 8, 4))
    with tempfile.TemporaryDirectory() as folder:
        trainer = Trainer(folder, 2)
        print(trainer.fit([(x, x.sum(-1)) for x in xs]), predict(trainer.model, xs[0]).shape)
