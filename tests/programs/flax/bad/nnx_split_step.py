# blind: twenty-first
# missed: a merged model that a compiled step changes

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx


class Forecaster(nnx.Module):
    def __init__(self, window, hidden, *, rngs):
        self.inp = nnx.Linear(window, hidden, rngs=rngs)
        self.out = nnx.Linear(hidden, 1, rngs=rngs)

    def __call__(self, x):
        return self.out(nnx.relu(self.inp(x)))[:, 0]


def mse(model, x, y):
    return jnp.mean((model(x) - y) ** 2)


@partial(jax.jit, static_argnums=0)
def train_step(graphdef, state, x, y):
    model, optimizer = nnx.merge(graphdef, state)  # finding-also
    loss, grads = nnx.value_and_grad(mse)(model, x, y)
    optimizer.update(model, grads)
    return loss  # finding


def batches(series, window, batch, rng):
    starts = rng.permutation(len(series) - window)
    for i in range(0, len(starts) - batch + 1, batch):
        idx = starts[i:i + batch]
        x = np.stack([series[s:s + window] for s in idx])
        yield x, series[idx + window]


def main():
    t = np.arange(600, dtype=np.float32)
    series = (np.sin(t / 7.0) + 0.3 * np.sin(t / 3.0)).astype(np.float32)
    model = Forecaster(16, 32, rngs=nnx.Rngs(0))
    optimizer = nnx.Optimizer(model, optax.adam(1e-2), wrt=nnx.Param)
    graphdef, state = nnx.split((model, optimizer))
    rng = np.random.default_rng(0)
    for epoch in range(4):
        total, count = 0.0, 0
        for x, y in batches(series, 16, 64, rng):
            loss = train_step(graphdef, state, x, y)  # finding-also
            total, count = total + loss, count + 1
        print("epoch", epoch, "loss", float(total) / count)


if __name__ == "__main__":
    main()
