# source: google-deepmind/optax#560
# blind: second

from functools import partial

import haiku as hk
import jax
import jax.numpy as jnp
import optax


def policy(obs):
    return hk.nets.MLP([16, 2])(obs)


net = hk.without_apply_rng(hk.transform(policy))
tx = optax.inject_hyperparams(optax.adam)(learning_rate=optax.linear_schedule(1e-3, 1e-4, 100))


@partial(jax.jit, donate_argnums=(0, 1))
def update(params, state, obs, temperature):
    def loss(params):
        logits = net.apply(params, obs) / temperature
        return -jnp.mean(jax.nn.logsumexp(logits, axis=-1))

    updates, state = tx.update(jax.grad(loss)(params), state)
    return optax.apply_updates(params, updates), state


def train(steps=5):
    params = net.init(jax.random.key(0), jnp.ones((1, 3)))
    state = tx.init(params)
    obs = jax.random.normal(jax.random.key(1), (8, 3))
    for step in range(steps):
        params, state = update(params, state, obs, 1.0 / (1 + step))
    return params


if __name__ == "__main__":
    print(len(train()))
