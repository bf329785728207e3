"""Trains a haiku MLP on noisy spirals."""

import argparse

import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np
import optax


def net(x):
    return hk.nets.MLP([512, 512, 512, 10])(x)


model = hk.without_apply_rng(hk.transform(net))
optimizer = optax.adamw(1e-3)


def make_data(count, rng):
    labels = rng.integers(0, 10, size=count)
    radius = rng.random(count)
    angle = 4.0 * radius + labels * 0.628 + 0.1 * rng.standard_normal(count)
    points = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
    features = np.concatenate([np.sin(points * k) for k in range(1, 17)], axis=1)
    return features, labels


def loss_fn(params, x, y):
    logits = model.apply(params, x)
    return optax.softmax_cross_entropy_with_integer_labels(logits, y).mean()


def train_step(params, opt_state, x, y):
    loss, grads = jax.value_and_grad(loss_fn)(params, x, y)
    updates, opt_state = optimizer.update(grads, opt_state, params)
    params = optax.apply_updates(params, updates)
    return params, opt_state, loss


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=61)
    parser.add_argument("--batch-size", type=int, default=256)
    args = parser.parse_args()

    rng = np.random.default_rng(0)
    x, y = make_data(20_000, rng)
    params = model.init(jax.random.PRNGKey(0), jnp.asarray(x[:1]))
    opt_state = optimizer.init(params)
    losses = []
    for step in range(args.steps):
        rows = rng.integers(0, len(x), size=args.batch_size)
        params, opt_state, loss = train_step(params, opt_state, jnp.array(x[rows]), jnp.array(y[rows]))
        losses.append(float(loss))
        if step % 10 == 0:
            print(f"step {step} loss {np.mean(losses[-10:]):.4f}")


if __name__ == "__main__":
    main()
