# blind: sixteenth

"""One critic update of a continuous-control agent with haiku."""

from typing import NamedTuple

import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np
import optax

OBS, ACT = 11, 3
GAMMA = 0.99


class Batch(NamedTuple):
    obs: jnp.ndarray
    action: jnp.ndarray
    reward: jnp.ndarray
    done: jnp.ndarray
    next_obs: jnp.ndarray


def critic_fn(obs, action):
    x = jnp.concatenate([obs, action], axis=-1)
    return hk.nets.MLP([64, 64, 1])(x)


def policy_fn(obs):
    return jnp.tanh(hk.nets.MLP([64, ACT])(obs))


critic = hk.without_apply_rng(hk.transform(critic_fn))
policy = hk.without_apply_rng(hk.transform(policy_fn))
optimizer = optax.adam(3e-4)


class State(NamedTuple):
    critic: hk.Params
    target: hk.Params
    policy: hk.Params
    opt: optax.OptState


def critic_loss(params, target, policy_params, batch):
    next_action = policy.apply(policy_params, batch.next_obs)
    next_q = critic.apply(target, batch.next_obs, next_action)
    backup = batch.reward + GAMMA * (1.0 - batch.done) * next_q[:, 0]
    q = critic.apply(params, batch.obs, batch.action)
    error = q - jax.lax.stop_gradient(backup)  # finding
    return jnp.mean(jnp.square(error))  # finding-also


@jax.jit
def update(state, batch):
    loss, grads = jax.value_and_grad(critic_loss)(
        state.critic, state.target, state.policy, batch
    )
    updates, opt = optimizer.update(grads, state.opt)
    new = optax.apply_updates(state.critic, updates)
    target = optax.incremental_update(new, state.target, 0.005)
    return State(new, target, state.policy, opt), loss


def sample(rng, n=128):
    return Batch(
        obs=rng.normal(size=(n, OBS)).astype(np.float32),
        action=rng.uniform(-1, 1, (n, ACT)).astype(np.float32),
        reward=rng.normal(size=(n,)).astype(np.float32),
        done=np.zeros((n,), np.float32),
        next_obs=rng.normal(size=(n, OBS)).astype(np.float32),
    )


def main():
    k1, k2 = jax.random.split(jax.random.PRNGKey(0))
    critic_params = critic.init(k1, jnp.zeros((1, OBS)), jnp.zeros((1, ACT)))
    policy_params = policy.init(k2, jnp.zeros((1, OBS)))
    state = State(critic_params, critic_params, policy_params, optimizer.init(critic_params))
    rng = np.random.default_rng(0)
    for step in range(200):
        state, loss = update(state, sample(rng))
    print(loss)


if __name__ == "__main__":
    main()
