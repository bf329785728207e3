# blind: sixteenth

"""Denoising diffusion on a two-dimensional toy set, equinox."""

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import optax


class Score(eqx.Module):
    mlp: eqx.nn.MLP

    def __init__(self, key):
        self.mlp = eqx.nn.MLP(3, 2, 64, 3, activation=jax.nn.silu, key=key)

    def __call__(self, x, t):
        return self.mlp(jnp.concatenate([x, t[None]]))  # finding-also


def alpha_bar(t):
    return jnp.cos(0.5 * jnp.pi * t) ** 2


def single_loss(model, x0, t, key):
    noise = jr.normal(key, x0.shape)
    a = alpha_bar(t)
    xt = jnp.sqrt(a) * x0 + jnp.sqrt(1.0 - a) * noise
    return jnp.mean((model(xt, t) - noise) ** 2)


def batch_loss(model, x0, key):
    tkey, nkey = jr.split(key)
    t = jr.uniform(tkey, (x0.shape[0],), minval=1e-3, maxval=0.999)
    losses = jax.vmap(single_loss, in_axes=(None, 0, 0, None))(model, x0, t, nkey)  # finding
    return jnp.mean(losses)


optim = optax.adamw(1e-3)


@eqx.filter_jit
def make_step(model, opt_state, x0, key):
    loss, grads = eqx.filter_value_and_grad(batch_loss)(model, x0, key)
    updates, opt_state = optim.update(grads, opt_state, eqx.filter(model, eqx.is_array))
    return eqx.apply_updates(model, updates), opt_state, loss


def moons(rng, n):
    theta = rng.uniform(0, np.pi, n)
    flip = rng.integers(0, 2, n)
    x = np.where(flip, 1 - np.cos(theta), np.cos(theta))
    y = np.where(flip, 0.5 - np.sin(theta), np.sin(theta))
    return np.stack([x, y], -1).astype(np.float32)


def main(steps=300):
    key = jr.key(0)
    mkey, key = jr.split(key)
    model = Score(mkey)
    opt_state = optim.init(eqx.filter(model, eqx.is_array))
    rng = np.random.default_rng(0)
    for i in range(steps):
        key, sub = jr.split(key)
        model, opt_state, loss = make_step(model, opt_state, moons(rng, 256), sub)
        if i % 100 == 0:
            print(i, loss)


if __name__ == "__main__":
    main()
