# source: AakashKumarNain/TF_JAX_tutorials#4
# blind: second

import jax
import jax.numpy as jnp


class EpsilonGreedyAgent:
    def __init__(self, actions, epsilon, seed):
        self.actions = actions
        self.epsilon = epsilon
        self.key = jax.random.key(seed)
        self.values = jnp.zeros(actions)
        self.counts = jnp.zeros(actions)

    def act(self):
        explore_key, action_key = jax.random.split(self.key)  # finding
        random_action = jax.random.randint(action_key, (), 0, self.actions)
        greedy = jnp.argmax(self.values)
        explore = jax.random.uniform(explore_key) < self.epsilon
        return jnp.where(explore, random_action, greedy)

    def observe(self, action, reward):
        self.counts = self.counts.at[action].add(1)
        rate = 1.0 / self.counts[action]
        self.values = self.values.at[action].add(rate * (reward - self.values[action]))


def bandit(means, key):
    noise = jax.random.normal(key, means.shape)
    return means + noise


def play(agent, means, rounds, key):
    rewards = []
    for sub in jax.random.split(key, rounds):
        action = agent.act()
        reward = bandit(means, sub)[action]
        agent.observe(action, reward)
        rewards.append(reward)
    return jnp.mean(jnp.stack(rewards))


if __name__ == "__main__":
    print(play(EpsilonGreedyAgent(4, 0.1, 0), jnp.arange(4.0), 20, jax.random.key(1)))
