# source: shubhamagarwal92/mmd#14
# blind: twentieth

"""Training with a validation pass per epoch, flax nnx."""
from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx


@dataclass(frozen=True)
class Config:
    features: int = 16
    hidden: int = 64
    classes: int = 3
    rate: float = 0.5
    epochs: int = 4
    batch: int = 32


class Net(nnx.Module):
    def __init__(self, cfg, rngs):
        self.inp = nnx.Linear(cfg.features, cfg.hidden, rngs=rngs)
        self.drop = nnx.Dropout(cfg.rate, rngs=rngs)
        self.out = nnx.Linear(cfg.hidden, cfg.classes, rngs=rngs)

    def __call__(self, x):
        return self.out(self.drop(nnx.relu(self.inp(x))))


def loss_fn(model, x, y):
    return optax.softmax_cross_entropy_with_integer_labels(model(x), y).mean()


@partial(nnx.jit, donate_argnums=(0, 1))
def train_step(model, optimizer, x, y):
    loss, grads = nnx.value_and_grad(loss_fn)(model, x, y)
    optimizer.update(model, grads)
    return loss


@nnx.jit
def count_correct(model, x, y):
    return jnp.sum(jnp.argmax(model(x), axis=-1) == y)


def evaluate(model, x, y):
    model.eval()  # finding-also
    return count_correct(model, x, y) / len(x)


def fit(cfg, model, optimizer, train, valid):
    rng = np.random.default_rng(0)
    x, y = train
    history = []
    model.train()  # finding
    for _ in range(cfg.epochs):  # finding-also
        order = rng.permutation(len(x))
        for start in range(0, len(x) - cfg.batch + 1, cfg.batch):
            rows = order[start:start + cfg.batch]
            train_step(model, optimizer, x[rows], y[rows])  # finding-also
        history.append(evaluate(model, *valid))  # finding-also
    return history


def make_data(rng, rows, cfg):
    x = rng.standard_normal((rows, cfg.features)).astype(np.float32)
    return x, x[:, :cfg.classes].argmax(axis=1).astype(np.int32)


def main():
    cfg = Config()
    rng = np.random.default_rng(1)
    model = Net(cfg, nnx.Rngs(params=0, dropout=1))
    optimizer = nnx.Optimizer(model, optax.adam(3e-3), wrt=nnx.Param)
    train, valid = make_data(rng, 512, cfg), make_data(rng, 256, cfg)
    history = fit(cfg, model, optimizer, train, valid)
    print("validation accuracy", [float(h) for h in history])


if __name__ == "__main__":
    main()
