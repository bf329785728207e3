# blind: tenth

import jax
import jax.numpy as jnp


class Bandit:
    def __init__(self, arms, key):
        self.means = jax.random.normal(key, (arms,))
        self.arms = arms

    def play(self, key, rounds):
        rewards = []
        for _ in range(rounds):
            pull_key, noise_key = jax.random.split(key)  # finding
            arm = jax.random.randint(pull_key, (), 0, self.arms)
            rewards.append(self.means[arm] + jax.random.normal(noise_key))
        return jnp.stack(rewards)


k1, k2 = jax.random.split(jax.random.key(0))
print(Bandit(5, k1).play(k2, 4))
