# blind: twentieth

"""Diffusion noise schedules chosen by a small named-tuple configuration."""
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import optax


class ScheduleConfig(NamedTuple):
    kind: str = "cosine"
    steps: int = 100
    offset: float = 0.008
    snr_clip: float = 0.0


def signal_level(cfg, t):
    """Fraction of signal left at time t in [0, 1]."""
    if cfg.kind == "linear":
        level = 1.0 - t
    else:
        level = jnp.cos(0.5 * jnp.pi * (t + cfg.offset) / (1.0 + cfg.offset)) ** 2
    return jnp.clip(level, 1e-4, 1.0 - 1e-4)


def loss_weight(cfg, level):
    snr = level / (1.0 - level)
    if cfg.snr_clip > 0.0:
        return jnp.minimum(snr, cfg.snr_clip) / snr
    return jnp.ones_like(snr)


def init_params(key, dim, hidden):
    k1, k2 = jax.random.split(key)
    return {
        "w1": jax.random.normal(k1, (dim + 1, hidden)) * dim**-0.5,
        "b1": jnp.zeros(hidden),
        "w2": jax.random.normal(k2, (hidden, dim)) * hidden**-0.5,
    }


def denoise(params, x, t):
    h = jnp.concatenate([x, t[:, None]], axis=1)
    return jnp.tanh(h @ params["w1"] + params["b1"]) @ params["w2"]


def train_step(cfg, tx, params, opt_state, x, key):
    k_time, k_noise = jax.random.split(key)
    t = jax.random.randint(k_time, x.shape[:1], 0, cfg.steps) / cfg.steps
    noise = jax.random.normal(k_noise, x.shape)
    level = signal_level(cfg, t)
    noisy = jnp.sqrt(level)[:, None] * x + jnp.sqrt(1.0 - level)[:, None] * noise

    def loss_fn(params):
        error = jnp.mean((denoise(params, noisy, t) - noise) ** 2, axis=1)
        return jnp.mean(loss_weight(cfg, level) * error)

    loss, grads = jax.value_and_grad(loss_fn)(params)
    updates, opt_state = tx.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state, loss


def main(steps=50):
    cfg = ScheduleConfig(snr_clip=5.0)
    key, k_init, k_data = jax.random.split(jax.random.key(0), 3)
    params = init_params(k_init, 4, 32)
    x = jax.random.normal(k_data, (256, 4)) * 0.5 + 1.0
    tx = optax.adam(1e-2)
    opt_state = tx.init(params)
    step = jax.jit(partial(train_step, cfg, tx), donate_argnums=(0, 1))
    for _ in range(steps):
        key, sub = jax.random.split(key)
        params, opt_state, loss = step(params, opt_state, x, sub)
    print("loss", float(loss))


if __name__ == "__main__":
    main()
