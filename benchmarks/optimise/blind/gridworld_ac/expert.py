"""REINFORCE with a value baseline on a small pendulum-like balancing task written in JAX."""
from typing import NamedTuple

import jax
import jax.numpy as jnp

GAMMA = 0.97
HORIZON = 40
EPISODES = 6  # per update
UPDATES = 20
FORCES = jnp.array([-1.0, 0.0, 1.0])


class EnvState(NamedTuple):
    angle: jnp.ndarray
    speed: jnp.ndarray
    t: int


class Balance:
    """Keep a pole near upright by pushing left, not at all or right."""

    def __init__(self, gravity=2.0, dt=0.1, limit=1.0):
        self.gravity = gravity
        self.dt = dt
        self.limit = limit

    def reset(self, key):
        start = jax.random.uniform(key, (2,), minval=-0.2, maxval=0.2)
        return EnvState(start[0], start[1], 0)

    def observe(self, state):
        return jnp.array([state.angle, state.speed, jnp.sin(3 * state.angle)])

    def step(self, state, action, key):
        wind = 0.1 * jax.random.normal(key)
        accel = self.gravity * jnp.sin(state.angle) + 1.5 * FORCES[action] + wind
        speed = state.speed + self.dt * accel
        angle = state.angle + self.dt * speed
        reward = 1.0 - angle**2 - 0.02 * jnp.abs(FORCES[action])
        done = jnp.abs(angle) > self.limit
        return EnvState(angle, speed, state.t + 1), reward, done


def init_layer(key, n_in, n_out, scale=1.0):
    return {"w": scale * jax.random.normal(key, (n_in, n_out)) / jnp.sqrt(n_in), "b": jnp.zeros(n_out)}


def init_agent(key, hidden=32):
    k1, k2, k3 = jax.random.split(key, 3)
    return {
        "body": init_layer(k1, 3, hidden),
        "policy": init_layer(k2, hidden, 3, 0.1),
        "value": init_layer(k3, hidden, 1, 0.1),
    }


def forward(params, obs):
    h = jnp.tanh(obs @ params["body"]["w"] + params["body"]["b"])
    logits = h @ params["policy"]["w"] + params["policy"]["b"]
    value = h @ params["value"]["w"] + params["value"]["b"]
    return logits, value[..., 0]


env = Balance()


def run_episode(params, key, greedy=False):
    """A whole episode of HORIZON steps; `mask` is 0 after the end."""
    key, k = jax.random.split(key)

    def step(carry, _):
        state, key, alive = carry
        key, k_act, k_env = jax.random.split(key, 3)
        obs = env.observe(state)
        logits, _ = forward(params, obs)
        action = jnp.argmax(logits) if greedy else jax.random.categorical(k_act, logits)
        state, reward, done = env.step(state, action, k_env)
        return (state, key, alive & ~done), (obs, action, reward, alive)

    start = env.reset(k)._replace(t=jnp.zeros((), jnp.int32))
    _, (obs, actions, rewards, alive) = jax.lax.scan(step, (start, key, jnp.array(True)), None, length=HORIZON)
    mask = alive.astype(jnp.float32)
    return obs, actions, rewards * mask, mask


def discount(rewards):
    def back(acc, r):
        acc = r + GAMMA * acc
        return acc, acc

    return jax.lax.scan(back, 0.0, rewards, reverse=True)[1]


def loss_fn(params, obs, actions, returns, mask):
    logits, values = forward(params, obs)
    logp = jax.nn.log_softmax(logits)
    chosen = jnp.take_along_axis(logp, actions[..., None], axis=-1)[..., 0]
    advantage = jax.lax.stop_gradient(returns - values)
    entropy = -jnp.sum(jnp.exp(logp) * logp, axis=-1)
    each = -chosen * advantage + 0.5 * (returns - values) ** 2 / 10 - 0.01 * entropy
    return jnp.sum(each * mask) / jnp.sum(mask)


def split_like_loop(key, n):
    """The subkeys of n successive `key, k = split(key)`."""

    def one(key, _):
        key, k = jax.random.split(key)
        return key, k

    return jax.lax.scan(one, key, None, length=n)


def train_update(carry, _):
    params, velocity, key = carry
    key, keys = split_like_loop(key, EPISODES)
    obs, actions, rewards, mask = jax.vmap(run_episode, in_axes=(None, 0))(params, keys)
    returns = jax.vmap(discount)(rewards)
    grads = jax.grad(loss_fn)(params, obs, actions, returns, mask)
    velocity = jax.tree.map(lambda v, g: 0.8 * v + g, velocity, grads)
    params = jax.tree.map(lambda p, v: p - 0.03 * v, params, velocity)
    return (params, velocity, key), rewards.sum(-1).mean()


@jax.jit
def experiment(key):
    key, k = jax.random.split(key)
    params = init_agent(k)
    velocity = jax.tree.map(jnp.zeros_like, params)
    (params, _, _), history = jax.lax.scan(train_update, (params, velocity, key), None, length=UPDATES)
    keys = jax.vmap(jax.random.PRNGKey)(100 + jnp.arange(10))
    _, _, rewards, mask = jax.vmap(lambda k: run_episode(params, k, greedy=True))(keys)
    scores = rewards.sum(-1)
    rest = forward(params, jnp.zeros(3))[1]
    return history.reshape(-1, 4).mean(-1), scores.mean(), scores.min(), mask.sum(-1).mean(), rest


def main():
    history, score, worst, length, rest = jax.device_get(experiment(jax.random.PRNGKey(7)))
    for i, mean in enumerate(history):
        print(f"update {4 * (i + 1)}: mean return {mean:.3g}")
    print(f"greedy: return {score:.3g} worst {worst:.3g} length {length:.3g}")
    print(f"value at rest: {rest:.3g}")


if __name__ == "__main__":
    main()
