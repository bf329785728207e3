# source: jax-ml/jax#5605
# blind: second

import jax
import jax.numpy as jnp


class ValueIteration:
    def __init__(self, transitions, rewards, discount):
        self.transitions = transitions
        self.rewards = rewards
        self.discount = discount
        self.sweep = jax.jit(self._sweep)

    def _sweep(self, values):
        backup = self.rewards + self.discount * jnp.einsum("ast,t->as", self.transitions, values)
        new = backup.max(axis=0)
        return new, jnp.max(jnp.abs(new - values))

    def run(self, tol=1e-4):
        values = jnp.zeros(self.rewards.shape[1])
        delta = jnp.inf
        sweeps = 0
        while delta > tol:  # finding
            values, delta = self.sweep(values)
            sweeps += 1
        return values, sweeps


def random_mdp(key, states, actions):
    kt, kr = jax.random.split(key)
    transitions = jax.nn.softmax(jax.random.normal(kt, (actions, states, states)))
    return transitions, jax.random.uniform(kr, (actions, states))


if __name__ == "__main__":
    mdp = ValueIteration(*random_mdp(jax.random.key(0), 20, 3), 0.9)
    print(mdp.run()[1])
