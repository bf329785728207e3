# source: google/flax#2665
# blind: twentieth

"""Ensemble with randomised prior networks for exploration bonuses."""
from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp
import optax


@dataclass(frozen=True)
class Config:
    members: int = 10
    features: int = 3
    hidden: int = 32
    prior_scale: float = 1.0
    lr: float = 1e-2


def init_mlp(key, cfg):
    k1, k2 = jax.random.split(key)
    return {
        "w1": jax.random.normal(k1, (cfg.features, cfg.hidden)) * cfg.features**-0.5,
        "b1": jnp.zeros(cfg.hidden),
        "w2": jax.random.normal(k2, (cfg.hidden,)) * cfg.hidden**-0.5,
    }


def apply_mlp(params, x):
    return jnp.tanh(x @ params["w1"] + params["b1"]) @ params["w2"]


def init_member(key, cfg):
    k_net, k_prior = jax.random.split(key)
    return init_mlp(k_net, cfg), init_mlp(k_prior, cfg)


def init_ensemble(key, cfg):
    keys = jnp.broadcast_to(key, (cfg.members,))  # finding
    return jax.vmap(init_member, in_axes=(0, None))(keys, cfg)  # finding-also


def predict(params, prior, x, cfg):
    return apply_mlp(params, x) + cfg.prior_scale * apply_mlp(prior, x)


def make_step(cfg, tx):
    def loss_fn(params, priors, x, y):
        out = jax.vmap(predict, in_axes=(0, 0, None, None))(params, priors, x, cfg)
        return jnp.mean((out - y) ** 2, axis=1).sum()

    @partial(jax.jit, donate_argnums=(0, 1))
    def step(params, opt_state, priors, x, y):
        loss, grads = jax.value_and_grad(loss_fn)(params, priors, x, y)
        updates, opt_state = tx.update(grads, opt_state)
        return optax.apply_updates(params, updates), opt_state, loss

    return step


@partial(jax.jit, static_argnames="cfg")
def exploration_bonus(params, priors, x, cfg):
    """Spread of the members at x."""
    return jax.vmap(predict, in_axes=(0, 0, None, None))(params, priors, x, cfg).std(axis=0)


def main(steps=100):
    cfg = Config()
    k_ens, k_x, k_far = jax.random.split(jax.random.key(0), 3)
    params, priors = init_ensemble(k_ens, cfg)
    x = jax.random.normal(k_x, (128, cfg.features))
    y = jnp.sin(x).sum(axis=1)
    tx = optax.adam(cfg.lr)
    opt_state = tx.init(params)
    step = make_step(cfg, tx)
    for _ in range(steps):
        params, opt_state, loss = step(params, opt_state, priors, x, y)
    far = 3.0 * jax.random.normal(k_far, (64, cfg.features))
    print("loss", float(loss))
    print("bonus far from the data", float(exploration_bonus(params, priors, far, cfg).mean()))


if __name__ == "__main__":
    main()
