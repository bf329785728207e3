# blind: twentieth

"""A small VAE with a floor on the KL term."""
from dataclasses import dataclass
from functools import partial

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax


@dataclass(frozen=True)
class Config:
    latent: int = 8
    hidden: int = 64
    free_nats: float = 0.5
    lr: float = 1e-3


class VAE(nn.Module):
    cfg: Config
    features: int

    @nn.compact
    def __call__(self, x, key):
        h = nn.relu(nn.Dense(self.cfg.hidden)(x))
        mean = nn.Dense(self.cfg.latent)(h)
        logvar = nn.Dense(self.cfg.latent)(h)
        z = mean + jnp.exp(0.5 * logvar) * jax.random.normal(key, mean.shape)
        h = nn.relu(nn.Dense(self.cfg.hidden)(z))
        return nn.Dense(self.features)(h), mean, logvar


def gaussian_kl(mean, logvar):
    return 0.5 * jnp.sum(jnp.exp(logvar) + mean**2 - 1.0 - logvar, axis=-1)


def with_floor(kl, floor):
    """Stops optimising the KL once it is already small."""
    return max(kl, floor)  # finding


def make_step(cfg, model, tx):
    def loss_fn(params, x, key):
        recon, mean, logvar = model.apply(params, x, key)
        nll = jnp.sum((recon - x) ** 2, axis=-1).mean()
        kl = gaussian_kl(mean, logvar).mean()
        return nll + with_floor(kl, cfg.free_nats)  # finding-also

    @partial(jax.jit, donate_argnums=(0, 1))
    def step(params, opt_state, x, key):
        loss, grads = jax.value_and_grad(loss_fn)(params, x, key)
        updates, opt_state = tx.update(grads, opt_state, params)
        return optax.apply_updates(params, updates), opt_state, loss

    return step


def main():
    cfg = Config()
    key, k_data, k_init, k_noise = jax.random.split(jax.random.key(0), 4)
    data = jax.random.normal(k_data, (256, 16))
    model = VAE(cfg, features=data.shape[-1])
    params = model.init(k_init, data[:1], k_noise)
    tx = optax.adam(cfg.lr)
    opt_state = tx.init(params)
    step = make_step(cfg, model, tx)
    for _ in range(20):
        key, sub = jax.random.split(key)
        params, opt_state, loss = step(params, opt_state, data, sub)
    print("final loss", float(loss))


if __name__ == "__main__":
    main()
