# source: jax-ml/jax#4274
# blind: twentieth

"""Beta-annealed variational fit of a mixture, flax linen encoder."""
from dataclasses import dataclass
from functools import partial

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax


@dataclass(frozen=True)
class Config:
    features: int = 8
    latent: int = 2
    hidden: int = 32
    beta_start: float = 0.0
    beta_end: float = 1.0
    anneal: int = 20
    steps: int = 40


class Autoencoder(nn.Module):
    cfg: Config

    @nn.compact
    def __call__(self, x, key):
        h = jnp.tanh(nn.Dense(self.cfg.hidden)(x))
        mean, logvar = jnp.split(nn.Dense(2 * self.cfg.latent)(h), 2, axis=-1)
        z = mean + jnp.exp(0.5 * logvar) * jax.random.normal(key, mean.shape)
        out = nn.Dense(x.shape[-1])(jnp.tanh(nn.Dense(self.cfg.hidden)(z)))
        return out, mean, logvar


def beta_at(cfg, step):
    frac = min(step / cfg.anneal, 1.0)  # finding-also
    return cfg.beta_start + frac * (cfg.beta_end - cfg.beta_start)  # finding-also


def make_step(model, tx):
    def loss_fn(params, x, key, beta):
        out, mean, logvar = model.apply(params, x, key)
        kl = 0.5 * jnp.sum(jnp.exp(logvar) + mean**2 - 1.0 - logvar, axis=-1)
        return jnp.mean(jnp.sum((out - x) ** 2, axis=-1) + beta * kl)

    @partial(jax.jit, static_argnames="beta", donate_argnames=("params", "opt_state"))  # finding
    def step(params, opt_state, x, key, beta):
        loss, grads = jax.value_and_grad(loss_fn)(params, x, key, beta)
        updates, opt_state = tx.update(grads, opt_state)
        return optax.apply_updates(params, updates), opt_state, loss

    return step


def main():
    cfg = Config()
    key, k_x, k_init, k_noise = jax.random.split(jax.random.key(0), 4)
    x = jax.random.normal(k_x, (128, cfg.features))
    model = Autoencoder(cfg)
    params = model.init(k_init, x, k_noise)
    tx = optax.adam(1e-3)
    opt_state = tx.init(params)
    step = make_step(model, tx)
    for i in range(cfg.steps):
        key, sub = jax.random.split(key)
        params, opt_state, loss = step(params, opt_state, x, sub, beta=beta_at(cfg, i))  # finding-also
    print("loss", float(loss))


if __name__ == "__main__":
    main()
