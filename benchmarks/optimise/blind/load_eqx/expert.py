"""Forecast of the load of a power grid: an LSTM in equinox.

The expert compiles the step and the evaluation, scans over the hours, and fetches losses when they are printed.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax

HISTORY, HORIZON = 24, 6


class Forecaster(eqx.Module):
    cell: eqx.nn.LSTMCell
    head: eqx.nn.MLP
    hidden: int = eqx.field(static=True)

    def __init__(self, features, hidden, *, key):
        k1, k2 = jax.random.split(key)
        self.cell = eqx.nn.LSTMCell(features, hidden, key=k1)
        self.head = eqx.nn.MLP(hidden, HORIZON, 32, 1, key=k2)
        self.hidden = hidden

    def __call__(self, xs):
        state = (jnp.zeros(self.hidden), jnp.zeros(self.hidden))
        state, _ = jax.lax.scan(lambda state, x: (self.cell(x, state), None), state, xs)
        return self.head(state[0])


def series(hours, seed):
    rng = np.random.default_rng(seed)
    t = np.arange(hours)
    day, week = 2 * np.pi * t / 24, 2 * np.pi * t / 168
    noise = np.zeros(hours)
    for i in range(1, hours):
        noise[i] = 0.9 * noise[i - 1] + 0.1 * rng.normal()
    load = np.sin(day) + 0.4 * np.sin(2 * day + 1) + 0.5 * np.cos(week) + noise
    return np.stack([load, np.sin(day), np.cos(day)], axis=1)


def windows(data):
    starts = range(len(data) - HISTORY - HORIZON)
    xs = np.stack([data[s : s + HISTORY] for s in starts])
    ys = np.stack([data[s + HISTORY : s + HISTORY + HORIZON, 0] for s in starts])
    return xs, ys


def quantile_loss(model, x, y):
    pred = jax.vmap(model)(x)
    error = y - pred
    return jnp.mean(jnp.maximum(0.6 * error, -0.4 * error))


@eqx.filter_jit
def absolute_error(model, x, y):
    return jnp.abs(jax.vmap(model)(x) - y).sum()


class Trainer:
    def __init__(self, model, rate, seed=0):
        self.model = model
        self.optim = optax.chain(optax.clip(1.0), optax.adam(rate))
        self.opt_state = self.optim.init(eqx.filter(model, eqx.is_inexact_array))
        self.rng = np.random.default_rng(seed)
        self.losses = []

        @eqx.filter_jit(donate="all")
        def step(model, opt_state, x, y):
            loss, grads = eqx.filter_value_and_grad(quantile_loss)(model, x, y)
            updates, opt_state = self.optim.update(grads, opt_state)
            return eqx.apply_updates(model, updates), opt_state, loss

        self._step = step

    def step(self, x, y):
        self.model, self.opt_state, loss = self._step(self.model, self.opt_state, x, y)
        self.losses.append(loss)
        return loss

    def fit(self, xs, ys, steps, size):
        for step in range(steps):
            rows = self.rng.integers(0, len(xs), size)
            self.step(jnp.asarray(xs[rows]), jnp.asarray(ys[rows]))
            if (step + 1) % 20 == 0:
                print(f"step {step + 1}: {np.mean(self.losses[-20:]):.4f}")

    def validate(self, xs, ys, size):
        total = 0.0
        for i in range(0, len(xs), size):
            total += absolute_error(self.model, jnp.asarray(xs[i : i + size]), jnp.asarray(ys[i : i + size]))
        return float(total) / ys.size


def main():
    data = series(1600, 0)
    xs, ys = windows(data)
    split = 1280
    model = Forecaster(3, 32, key=jax.random.PRNGKey(1))
    trainer = Trainer(model, 5e-3)
    trainer.fit(xs[:split], ys[:split], 80, 32)
    error = trainer.validate(xs[split:], ys[split:], 64)
    print(f"mean absolute error {error:.4f}")


if __name__ == "__main__":
    main()
