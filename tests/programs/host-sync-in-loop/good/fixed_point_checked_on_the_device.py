# source: jax-ml/jax#5605
# blind: second

import jax
import jax.numpy as jnp


class ValueIteration:
    def __init__(self, transitions, rewards, discount):
        self.transitions = transitions
        self.rewards = rewards
        self.discount = discount

    def sweep(self, values):
        backup = self.rewards + self.discount * jnp.einsum("ast,t->as", self.transitions, values)
        return backup.max(axis=0)

    def run(self, tol=1e-4, limit=1000):
        def unfinished(state):
            _, delta, sweeps = state
            return (delta > tol) & (sweeps < limit)

        def body(state):
            values, _, sweeps = state
            new = self.sweep(values)
            return new, jnp.max(jnp.abs(new - values)), sweeps + 1

        start = jnp.zeros(self.rewards.shape[1]), jnp.array(jnp.inf), 0
        values, _, sweeps = jax.lax.while_loop(unfinished, body, start)
        return values, sweeps


def random_mdp(key, states, actions):
    kt, kr = jax.random.split(key)
    transitions = jax.nn.softmax(jax.random.normal(kt, (actions, states, states)))
    return transitions, jax.random.uniform(kr, (actions, states))


if __name__ == "__main__":
    mdp = ValueIteration(*random_mdp(jax.random.key(0), 20, 3), 0.9)
    print(mdp.run()[1])
