# blind: sixteenth

"""Double Q-learning with a target network that is copied every hundred updates."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import optax

OBS, ACTIONS, HIDDEN, GAMMA = 4, 2, 64, 0.99


def init_q(key):
    k1, k2 = jax.random.split(key)
    return {
        "w1": jax.random.normal(k1, (OBS, HIDDEN)) * 0.5,
        "b1": jnp.zeros(HIDDEN),
        "w2": jax.random.normal(k2, (HIDDEN, ACTIONS)) * 0.1,
        "b2": jnp.zeros(ACTIONS),
    }


def q_values(params, obs):
    h = jax.nn.relu(obs @ params["w1"] + params["b1"])
    return h @ params["w2"] + params["b2"]


optimizer = optax.adam(1e-3)


def td_loss(params, target_params, batch):
    obs, action, reward, next_obs, done = batch
    q = jnp.take_along_axis(q_values(params, obs), action[:, None], axis=1)[:, 0]
    best = q_values(params, next_obs).argmax(axis=1)
    next_q = jnp.take_along_axis(q_values(target_params, next_obs), best[:, None], axis=1)[:, 0]
    target = reward + GAMMA * (1.0 - done) * next_q
    return jnp.mean(optax.huber_loss(q, target))


@partial(jax.jit, donate_argnums=(0, 2))
def update(params, target_params, opt_state, batch):
    loss, grads = jax.value_and_grad(td_loss)(params, target_params, batch)
    updates, opt_state = optimizer.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state, loss


def sample(rng, n=64):
    return (
        rng.normal(size=(n, OBS)).astype(np.float32),
        rng.integers(0, ACTIONS, n),
        rng.normal(size=n).astype(np.float32),
        rng.normal(size=(n, OBS)).astype(np.float32),
        (rng.random(n) < 0.1).astype(np.float32),
    )


def main():
    rng = np.random.default_rng(0)
    params = init_q(jax.random.PRNGKey(0))
    target_params = jax.tree.map(jnp.copy, params)
    opt_state = optimizer.init(params)
    losses = []
    for step in range(300):
        params, opt_state, loss = update(params, target_params, opt_state, sample(rng))
        losses.append(loss)
        if step % 100 == 99:
            target_params = jax.tree.map(jnp.copy, params)
            print(step, np.mean(jax.device_get(losses)))
            losses.clear()


if __name__ == "__main__":
    main()
