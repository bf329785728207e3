"""Forecast a noisy seasonal series with a residual MLP in flax nnx."""
import argparse

import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx


class ResBlock(nnx.Module):
    def __init__(self, width, rngs):
        self.norm = nnx.LayerNorm(width, rngs=rngs)
        self.up = nnx.Linear(width, 2 * width, rngs=rngs)
        self.down = nnx.Linear(2 * width, width, rngs=rngs)

    def __call__(self, x):
        return x + self.down(nnx.silu(self.up(self.norm(x))))


class Forecaster(nnx.Module):
    def __init__(self, context, horizon, width, depth, *, rngs):
        self.embed = nnx.Linear(context, width, rngs=rngs)
        self.blocks = nnx.List([ResBlock(width, rngs) for _ in range(depth)])
        self.head = nnx.Linear(width, horizon, rngs=rngs)

    def __call__(self, x):
        mean = jnp.mean(x, axis=-1, keepdims=True)
        scale = jnp.std(x, axis=-1, keepdims=True) + 1e-3
        h = self.embed((x - mean) / scale)
        for block in self.blocks:
            h = block(h)
        return self.head(h) * scale + mean


def make_series(length, seed):
    rng = np.random.default_rng(seed)
    t = np.arange(length)
    series = np.sin(2 * np.pi * t / 24) + 0.5 * np.sin(2 * np.pi * t / 168)
    return series + 0.1 * rng.normal(size=length)


def windows(series, context, horizon):
    n = len(series) - context - horizon
    xs = np.stack([series[i:i + context] for i in range(n)])
    ys = np.stack([series[i + context:i + context + horizon] for i in range(n)])
    return xs, ys


def loss_fn(model, x, y):
    pred = model(x)
    return jnp.mean(optax.huber_loss(pred, y))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--context", type=int, default=48)
    parser.add_argument("--horizon", type=int, default=12)
    args = parser.parse_args()

    xs, ys = windows(make_series(2000, 0), args.context, args.horizon)
    split = int(0.9 * len(xs))
    train_x, train_y = xs[:split], ys[:split]
    val_x, val_y = xs[split:], ys[split:]

    model = Forecaster(args.context, args.horizon, 48, 3, rngs=nnx.Rngs(0))
    schedule = optax.cosine_decay_schedule(3e-3, args.steps)
    optimizer = nnx.Optimizer(model, optax.adam(schedule), wrt=nnx.Param)

    rng = np.random.default_rng(1)
    running = 0.0
    best = float("inf")
    for step in range(args.steps):
        idx = rng.integers(0, len(train_x), size=args.batch_size)
        x, y = jnp.array(train_x[idx]), jnp.array(train_y[idx])
        loss, grads = nnx.value_and_grad(loss_fn)(model, x, y)
        optimizer.update(model, grads)
        running = 0.9 * running + 0.1 * loss.item() if step else loss.item()
        if (step + 1) % 10 == 0:
            val = loss_fn(model, jnp.array(val_x), jnp.array(val_y))
            best = min(best, float(val))
            print(f"step {step + 1:4d}  train {running:.3f}  val {float(val):.3f}")
    print(f"best {best:.3f}")


if __name__ == "__main__":
    main()
