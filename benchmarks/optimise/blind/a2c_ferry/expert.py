"""Advantage actor-critic: steer ferries across a river with a current to a dock on the other bank."""
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax


@dataclass
class Config:
    ferries: int = 8
    rollout: int = 16
    updates: int = 120
    max_steps: int = 40
    hidden: int = 32
    gamma: float = 0.97
    gae_lambda: float = 0.9
    entropy_bonus: float = 0.01
    learning_rate: float = 5e-3
    report_every: int = 20
    seed: int = 5


class Fleet(NamedTuple):
    position: jax.Array
    drift: jax.Array
    dock: jax.Array
    steps: jax.Array
    episode: jax.Array


def make_scenarios(config):
    rng = np.random.default_rng(config.seed)
    return jnp.asarray(rng.uniform(-1, 1, size=(config.ferries, 400, 3)).astype(np.float32))


def start(scenarios, episode):
    n = scenarios.shape[0]
    begin, current, dock = scenarios[jnp.arange(n), episode].T
    position = jnp.stack([begin, jnp.zeros(n)], axis=1)
    return Fleet(position, 0.06 * current, dock, jnp.zeros(n, jnp.int32), episode + 1)


def observe(fleet):
    x, y = fleet.position.T
    return jnp.stack([fleet.dock - x, y, 10 * fleet.drift, fleet.steps / 40.0], axis=1)


def env_step(config, scenarios, fleet, actions):
    x, y = fleet.position.T
    x = x + fleet.drift + 0.12 * (actions - 1).astype(jnp.float32)
    y = y + 0.05
    steps = fleet.steps + 1
    miss = jnp.abs(fleet.dock - x)
    across = y >= 1.0
    lost = ~across & ((jnp.abs(x) > 1.8) | (steps >= config.max_steps))
    rewards = -0.1 * miss + jnp.where(across, jnp.where(miss < 0.15, 1.0, -1.0), jnp.where(lost, -1.0, 0.0))
    done = across | lost
    moved = fleet._replace(position=jnp.stack([x, y], axis=1), steps=steps)

    def pick(new, old):
        return jnp.where(done.reshape(-1, *[1] * (new.ndim - 1)), new, old)

    return jax.tree.map(pick, start(scenarios, fleet.episode), moved), rewards, done


def init_params(config, key):
    sizes = [(4, config.hidden), (config.hidden, config.hidden), (config.hidden, 3), (config.hidden, 1)]
    keys = jax.random.split(key, len(sizes))
    return [(jax.random.normal(k, s) / jnp.sqrt(s[0]), jnp.zeros(s[1])) for k, s in zip(keys, sizes)]


def actor_critic(params, observations):
    (w1, b1), (w2, b2), (wa, ba), (wc, bc) = params
    h = jnp.tanh(observations @ w1 + b1)
    h = jnp.tanh(h @ w2 + b2)
    return h @ wa + ba, (h @ wc + bc)[..., 0]


def a2c_loss(params, observations, actions, advantages, returns, config):
    logits, values = actor_critic(params, observations)
    log_probs = jax.nn.log_softmax(logits)
    chosen = jnp.take_along_axis(log_probs, actions[..., None], axis=-1)[..., 0]
    entropy = -jnp.sum(jnp.exp(log_probs) * log_probs, axis=-1).mean()
    policy_loss = -(chosen * advantages).mean()
    value_loss = 0.5 * ((values - returns) ** 2).mean()
    return policy_loss + value_loss - config.entropy_bonus * entropy, (value_loss, entropy)


def gae(rewards, values, done, last_value, config):
    def step(carry, inputs):
        running, next_value = carry
        reward, value, ended = inputs
        alive = 1.0 - ended
        delta = reward + config.gamma * alive * next_value - value
        running = delta + config.gamma * config.gae_lambda * alive * running
        return (running, value), running

    start = (jnp.zeros_like(last_value), last_value)
    return jax.lax.scan(step, start, (rewards, values, done), reverse=True)[1]


def make_train(config, tx, scenarios):
    def act(carry, _):
        params, key, fleet, total = carry
        observation = observe(fleet)
        logits, values = actor_critic(params, observation)
        key, action_key = jax.random.split(key)
        actions = jax.random.categorical(action_key, logits)
        fleet, rewards, done = env_step(config, scenarios, fleet, actions)
        total = total + rewards
        crossing = jnp.where(done, total, 0.0)
        total = jnp.where(done, 0.0, total)
        return (params, key, fleet, total), (observation, actions, values, rewards, done, crossing)

    def update(carry, _):
        params, opt_state, key, fleet, total = carry
        (_, key, fleet, total), trajectory = jax.lax.scan(act, (params, key, fleet, total), None, length=config.rollout)
        observations, actions, values, rewards, done, crossings = trajectory
        _, last_value = actor_critic(params, observe(fleet))
        advantages = gae(rewards, values, done, last_value, config)
        returns = advantages + values
        advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
        (_, (value_loss, entropy)), grads = jax.value_and_grad(a2c_loss, has_aux=True)(
            params, observations, actions, advantages, returns, config
        )
        updates, opt_state = tx.update(grads, opt_state)
        params = optax.apply_updates(params, updates)
        return (params, opt_state, key, fleet, total), (done.sum(), crossings.sum(), value_loss, entropy)

    @partial(jax.jit, donate_argnums=0)
    def train(carry):
        carry, (count, total, value_loss, entropy) = jax.lax.scan(update, carry, None, length=config.report_every)
        return carry, count.sum(), total.sum() / count.sum(), value_loss.mean(), entropy.mean()

    return train


def main():
    config = Config()
    tx = optax.adam(config.learning_rate)
    scenarios = make_scenarios(config)

    @jax.jit
    def init(seed_key):
        key, init_key = jax.random.split(seed_key)
        params = init_params(config, init_key)
        fleet = start(scenarios, jnp.zeros(config.ferries, jnp.int32))
        return params, tx.init(params), key, fleet, jnp.zeros(config.ferries)

    carry = init(jax.random.PRNGKey(config.seed))
    train = make_train(config, tx, scenarios)
    for update in range(config.report_every, config.updates + 1, config.report_every):
        carry, count, mean_return, value_loss, entropy = train(carry)
        print(
            f"update {update}: {count} crossings, mean return {mean_return:.3f}, "
            f"value loss {value_loss:.3g}, entropy {entropy:.3f}"
        )


if __name__ == "__main__":
    main()
