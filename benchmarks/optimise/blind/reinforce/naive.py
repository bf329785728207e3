import jax
import jax.numpy as jnp
import numpy as np
import optax

GAMMA = 0.98


def policy(params, obs):
    h = jnp.tanh(obs @ params["w1"] + params["b1"])
    return h @ params["w2"] + params["b2"]


@jax.jit
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
    observations, actions, rewards = [], [], []
    for _ in range(length):
        key, action_key = jax.random.split(key)
        action = jax.random.categorical(action_key, policy(params, state))
        observations.append(state)
        actions.append(action)
        state, reward = env_step(state, action)
        rewards.append(reward)
    return jnp.stack(observations), jnp.stack(actions), jnp.stack(rewards)


def discounted(rewards):
    returns = []
    running = 0.0
    for r in reversed(np.asarray(rewards)):
        running = r + GAMMA * running
        returns.insert(0, running)
    return jnp.array(returns)


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
    for iteration in range(6):
        observations, actions, returns, episode_rewards = [], [], [], []
        for _ in range(4):
            key, sub = jax.random.split(key)
            obs, act, rew = rollout(params, sub, 60)
            observations.append(obs)
            actions.append(act)
            returns.append(discounted(rew))
            episode_rewards.append(float(rew.sum()))
        obs, act, ret = jnp.concatenate(observations), jnp.concatenate(actions), jnp.concatenate(returns)
        advantages = (ret - ret.mean()) / (ret.std() + 1e-6)
        loss, grads = jax.value_and_grad(pg_loss)(params, obs, act, advantages)
        updates, opt_state = tx.update(grads, opt_state)
        params = optax.apply_updates(params, updates)
        print(f"iteration {iteration} loss {float(loss):.4f} reward {np.mean(episode_rewards):.2f}")


if __name__ == "__main__":
    main()
