# blind: twentieth

"""Autoencoder with a finite scalar quantised bottleneck (haiku)."""
from dataclasses import dataclass
from functools import partial

import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np
import optax


@dataclass(frozen=True)
class Config:
    features: int = 12
    hidden: int = 32
    code: int = 4
    levels: int = 5
    commitment: float = 0.1


def nearest_level(z, levels):
    """Rounds every coordinate of z in [-1, 1] to one of `levels` values."""
    half = (levels - 1) / 2
    return jnp.round(z * half) / half  # finding-also


def straight_through(z, levels):
    return z + (nearest_level(z, levels) - z)  # finding


class Autoencoder(hk.Module):
    def __init__(self, cfg):
        super().__init__()
        self.cfg = cfg

    def __call__(self, x):
        encoder = hk.nets.MLP([self.cfg.hidden, self.cfg.code], name="encoder")
        decoder = hk.nets.MLP([self.cfg.hidden, self.cfg.features], name="decoder")
        z = jnp.tanh(encoder(x))
        return decoder(straight_through(z, self.cfg.levels)), z  # finding-also


def make_step(net, tx):
    def loss_fn(params, x):
        recon, _ = net.apply(params, x)
        return jnp.mean(jnp.sum((recon - x) ** 2, axis=-1))

    @partial(jax.jit, donate_argnums=(0, 1))
    def step(params, opt_state, x):
        loss, grads = jax.value_and_grad(loss_fn)(params, x)
        updates, opt_state = tx.update(grads, opt_state)
        return optax.apply_updates(params, updates), opt_state, loss

    return step


def make_data(rng, rows, features):
    latent = np.sign(rng.standard_normal((rows, 3)))
    mix = rng.standard_normal((3, features))
    return (latent @ mix + 0.05 * rng.standard_normal((rows, features))).astype(np.float32)


def main(steps=400, batch=128):
    cfg = Config()
    rng = np.random.default_rng(0)
    data = make_data(rng, 2048, cfg.features)
    net = hk.without_apply_rng(hk.transform(lambda x: Autoencoder(cfg)(x)))
    params = net.init(jax.random.key(0), data[:1])
    tx = optax.adam(3e-3)
    opt_state = tx.init(params)
    step = make_step(net, tx)
    for _ in range(steps):
        rows = rng.choice(len(data), batch, replace=False)
        params, opt_state, loss = step(params, opt_state, data[rows])
    print("reconstruction", float(loss), "variance", float(data.var(axis=0).sum()))


if __name__ == "__main__":
    main()
