# blind: twenty-first

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax

BASE_KEY = jax.random.key(42)


class Denoiser(nn.Module):
    @nn.compact
    def __call__(self, x, t):
        h = jnp.concatenate([x, t[:, None], jnp.sin(6.0 * t)[:, None]], axis=1)
        h = nn.silu(nn.Dense(64)(h))
        h = nn.silu(nn.Dense(64)(h))
        return nn.Dense(x.shape[1])(h)


model = Denoiser()
tx = optax.adam(3e-3)


def loss_fn(params, x, key):
    k_t, k_eps = jax.random.split(key)
    t = jax.random.uniform(k_t, (x.shape[0],))
    eps = jax.random.normal(k_eps, x.shape)
    noisy = jnp.sqrt(1.0 - t)[:, None] * x + jnp.sqrt(t)[:, None] * eps
    return jnp.mean((model.apply(params, noisy, t) - eps) ** 2), eps[0, 0]


@jax.jit
def train_step(params, opt_state, x, step):
    key = jax.random.fold_in(BASE_KEY, step)
    (loss, probe), grads = jax.value_and_grad(loss_fn, has_aux=True)(params, x, key)
    updates, opt_state = tx.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state, loss, probe


def main():
    rng = np.random.default_rng(0)
    angle = rng.uniform(0, 2 * np.pi, size=512)
    data = jnp.asarray(np.stack([np.cos(angle), np.sin(angle)], axis=1), jnp.float32)
    params = model.init(jax.random.key(0), data[:1], jnp.zeros((1,)))
    opt_state = tx.init(params)
    losses, probes = [], []
    for step in range(200):
        params, opt_state, loss, probe = train_step(params, opt_state, data, step)
        losses.append(loss)
        probes.append(probe)
    losses, probes = np.asarray(jnp.stack(losses)), np.asarray(jnp.stack(probes))
    print("loss", losses[:10].mean(), "->", losses[-10:].mean())
    assert len(np.unique(probes)) == 200 and losses[-10:].mean() < losses[0]


if __name__ == "__main__":
    main()
