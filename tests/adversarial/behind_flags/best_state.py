# flags: --keep-best
"""Train a small linen network; optionally go back to the best parameters on the validation set."""

import argparse
import pickle

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax.training import train_state


class Net(nn.Module):
    width: int = 128

    @nn.compact
    def __call__(self, x):
        for _ in range(3):
            x = nn.relu(nn.Dense(self.width)(x))
        return nn.Dense(1)(x)[..., 0]


def make_data(seed, n):
    rng = np.random.default_rng(seed)
    x = rng.uniform(-2, 2, size=(n, 6)).astype(np.float32)
    y = np.sin(x[:, 0]) * x[:, 1] + 0.3 * rng.normal(size=n).astype(np.float32)
    return x, y.astype(np.float32)


@jax.jit
def train_step(state, x, y):
    def loss_fn(params):
        return jnp.mean((state.apply_fn({"params": params}, x) - y) ** 2)

    loss, grads = jax.value_and_grad(loss_fn)(state.params)
    return state.apply_gradients(grads=grads), loss


@jax.jit
def evaluate(params, x, y):
    return jnp.mean((Net().apply({"params": params}, x) - y) ** 2)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--keep-best", action="store_true")
    ap.add_argument("--epochs", type=int, default=12)
    args = ap.parse_args()

    x, y = make_data(0, 1024)
    xv, yv = make_data(1, 256)
    net = Net()
    params = net.init(jax.random.key(0), x[:1])["params"]
    state = train_state.TrainState.create(apply_fn=net.apply, params=params, tx=optax.adam(3e-3))

    best, best_score, best_epoch = None, float("inf"), -1
    order = np.random.default_rng(3)
    for epoch in range(args.epochs):
        for rows in np.split(order.permutation(1024), 16):
            state, loss = train_step(state, x[rows], y[rows])
        score = float(evaluate(state.params, xv, yv))
        print(f"epoch {epoch}: train {float(loss):.4f} valid {score:.4f}")
        if args.keep_best and score < best_score:
            best, best_score, best_epoch = state, score, epoch
    if best is not None:
        state = best
        print("best epoch", best_epoch, f"{best_score:.4f}")
    with open("model.pkl", "wb") as f:
        pickle.dump(jax.tree.map(lambda a: np.asarray(a).shape, state.params), f)
    print("final", f"{float(evaluate(state.params, xv, yv)):.4f}", "step", int(state.step))


if __name__ == "__main__":
    main()
