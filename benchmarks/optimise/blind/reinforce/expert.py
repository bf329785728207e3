# After PureJaxRL (rollouts by lax.scan under vmap, one jitted update) and gymnax' cart pole.
from functools import partial

import jax
import jax.numpy as jnp
import optax

GAMMA = 0.98


def policy(params, obs):
    h = jnp.tanh(obs @ params["w1"] + params["b1"])
    return h @ params["w2"] + params["b2"]


def env_step(state, action):
    position, velocity, angle, spin = state
    force = jnp.where(action == 1, 10.0, -10.0)
    temp = (force + 0.05 * spin**2 * jnp.sin(angle)) / 1.1
    angular = (9.8 * jnp.sin(angle) - jnp.cos(angle) * temp) / (0.5 * (4.0 / 3.0 - 0.1 * jnp.cos(angle) ** 2 / 1.1))
    linear = temp - 0.05 * angular * jnp.cos(angle) / 1.1
    new = jnp.array([position + 0.02 * velocity, velocity + 0.02 * linear, angle + 0.02 * spin, spin + 0.02 * angular])
    reward = jnp.where((jnp.abs(new[2]) < 0.2) & (jnp.abs(new[0]) < 2.4), 1.0, 0.0)
    return new, reward


def rollout(params, key, length):
    key, reset_key = jax.random.split(key)
    state = jax.random.uniform(reset_key, (4,), minval=-0.05, maxval=0.05)

    def step(carry, _):
        state, key = carry
        key, action_key = jax.random.split(key)
        action = jax.random.categorical(action_key, policy(params, state))
        new, reward = env_step(state, action)
        return (new, key), (state, action, reward)

    _, (obs, actions, rewards) = jax.lax.scan(step, (state, key), None, length)
    _, returns = jax.lax.scan(lambda total, r: (r + GAMMA * total,) * 2, 0.0, rewards, reverse=True)
    return obs, actions, returns, rewards.sum()


def pg_loss(params, obs, actions, advantages):
    log_probs = jax.nn.log_softmax(policy(params, obs))
    chosen = jnp.take_along_axis(log_probs, actions[:, None], axis=1)[:, 0]
    return -jnp.mean(chosen * advantages)


def main():
    key = jax.random.PRNGKey(3)
    k1, k2, key = jax.random.split(key, 3)
    params = {
        "w1": jax.random.normal(k1, (4, 32)) * 0.5,
        "b1": jnp.zeros(32),
        "w2": jax.random.normal(k2, (32, 2)) * 0.1,
        "b2": jnp.zeros(2),
    }
    tx = optax.adam(1e-2)
    opt_state = tx.init(params)

    @partial(jax.jit, donate_argnums=(0, 1))
    def update(params, opt_state, key):
        subs = []
        for _ in range(4):
            key, sub = jax.random.split(key)
            subs.append(sub)
        obs, act, ret, rewards = jax.vmap(rollout, (None, 0, None))(params, jnp.stack(subs), 60)
        obs, act, ret = obs.reshape(-1, 4), act.reshape(-1), ret.reshape(-1)
        advantages = (ret - ret.mean()) / (ret.std() + 1e-6)
        loss, grads = jax.value_and_grad(pg_loss)(params, obs, act, advantages)
        updates, opt_state = tx.update(grads, opt_state)
        return optax.apply_updates(params, updates), opt_state, key, loss, rewards.mean()

    for iteration in range(6):
        params, opt_state, key, loss, reward = update(params, opt_state, key)
        print(f"iteration {iteration} loss {loss:.4f} reward {reward:.2f}")


if __name__ == "__main__":
    main()
