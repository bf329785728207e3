# source: jax-ml/jax#2697
# blind: twenty-first

from typing import Sequence

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax.training import train_state


class Regressor(nn.Module):
    hidden: Sequence[int] = (32, 32)

    @nn.compact
    def __call__(self, x):
        for width in self.hidden:
            x = nn.relu(nn.Dense(width)(x))
        return nn.Dense(1)(x)


def make_data(seed, n=512, d=8):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, d)).astype(np.float32)
    w = rng.normal(size=(d,)).astype(np.float32)
    y = x @ w + 0.05 * rng.normal(size=(n,)).astype(np.float32)
    return x, y


def loss_fn(params, apply_fn, xb, yb):
    preds = apply_fn({"params": params}, xb)  # finding-also
    return jnp.mean((preds - yb) ** 2)  # finding


@jax.jit
def train_step(state, xb, yb):
    loss, grads = jax.value_and_grad(loss_fn)(state.params, state.apply_fn, xb, yb)
    return state.apply_gradients(grads=grads), loss


def r_squared(state, x, y):
    pred = np.asarray(state.apply_fn({"params": state.params}, x)).reshape(y.shape)
    return 1.0 - np.sum((y - pred) ** 2) / np.sum((y - y.mean()) ** 2)


def main():
    x, y = make_data(0)
    model = Regressor()
    params = model.init(jax.random.key(1), x[:1])["params"]
    state = train_state.TrainState.create(
        apply_fn=model.apply, params=params, tx=optax.adam(1e-2))
    rng = np.random.default_rng(2)
    for epoch in range(8):
        order = rng.permutation(len(x))
        for start in range(0, len(x), 64):
            idx = order[start:start + 64]
            state, loss = train_step(state, x[idx], y[idx])
    print("final loss", float(loss))
    print("r2", float(r_squared(state, x, y)))


if __name__ == "__main__":
    main()
