# source: patrick-kidger/equinox#640
# blind: twenty-first

import math

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np


class WindowRegressor(eqx.Module):
    net: eqx.nn.MLP
    scale: jax.Array

    def __init__(self, window, channels, width, key):
        self.net = eqx.nn.MLP(window * channels, "scalar", width, depth=2, key=key)
        self.scale = jnp.ones((channels,))

    def __call__(self, xs):
        return self.net((xs * self.scale).ravel())


def loss_fn(model, xs, ys):
    return jnp.mean((jax.vmap(model)(xs) - ys) ** 2)


@eqx.filter_jit  # finding-also
def sgd_step(model, xs, ys, lr):  # finding-also
    loss, grads = eqx.filter_value_and_grad(loss_fn)(model, xs, ys)
    updates = jax.tree.map(lambda g: -lr * g, grads)
    return eqx.apply_updates(model, updates), loss


def warmup_cosine(step, total, peak=0.2, warmup=8):
    if step < warmup:
        return peak * (step + 1) / warmup
    frac = (step - warmup) / max(1, total - warmup)
    return 0.5 * peak * (1.0 + math.cos(math.pi * frac))


def make_sequences(n, length, seed=0):
    rng = np.random.default_rng(seed)
    xs = rng.normal(size=(n, length, 3)).astype(np.float32)
    ys = xs[:, :, 0].sum(axis=1) / math.sqrt(length)
    return jnp.asarray(xs), jnp.asarray(ys, jnp.float32)


def main(steps=14):
    xs, ys = make_sequences(64, 12)
    model = WindowRegressor(12, 3, 32, jax.random.key(0))
    for i in range(steps):
        lr = warmup_cosine(i, steps)  # finding-also
        model, loss = sgd_step(model, xs, ys, lr)  # finding
    print("loss", float(loss))


if __name__ == "__main__":
    main()
