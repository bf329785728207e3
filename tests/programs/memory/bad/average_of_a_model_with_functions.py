# blind: thirteenth

import equinox as eqx
import jax
import jax.numpy as jnp
import optax


class QNet(eqx.Module):
    mlp: eqx.nn.MLP
    n_actions: int

    def __init__(self, n_obs, n_actions, key):
        self.mlp = eqx.nn.MLP(n_obs, n_actions, 64, 2, key=key)
        self.n_actions = n_actions

    def __call__(self, obs):
        return self.mlp(obs)


def polyak(target, online, tau):
    return jax.tree.map(lambda t, o: (1 - tau) * t + tau * o, target, online)  # finding


def td_loss(model, target, batch, gamma):
    obs, actions, rewards, next_obs = batch
    q = jax.vmap(model)(obs)
    q = jnp.take_along_axis(q, actions[:, None], axis=1)[:, 0]
    best = jax.vmap(target)(next_obs).max(axis=1)
    return jnp.mean((q - rewards - gamma * best) ** 2)


def learn(batches, key):
    model = QNet(4, 2, key)
    target = model
    tx = optax.adam(1e-3)
    state = tx.init(eqx.filter(model, eqx.is_inexact_array))

    @eqx.filter_jit  # finding-other
    def step(model, target, state, batch):
        grads = eqx.filter_grad(td_loss)(model, target, batch, 0.99)
        updates, state = tx.update(grads, state)
        return eqx.apply_updates(model, updates), state

    for batch in batches:
        model, state = step(model, target, state, batch)
        target = polyak(target, model, 0.005)  # finding-also
    return model
