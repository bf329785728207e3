# source: patrick-kidger/equinox#291
# blind: fourth

from functools import partial

import jax
import jax.numpy as jnp


def env_step(state, action):
    state = state + 0.05 * action
    return state, -jnp.sum(state**2)


@partial(jax.jit, static_argnums=0)
def rollout(policy, state, key):
    def body(state, key):
        return env_step(state, policy(state, key))

    _, rewards = jax.lax.scan(body, state, jax.random.split(key, 32))
    return rewards.sum()


def noisy_linear(params, scale, state, key):
    return state @ params + scale * jax.random.normal(key, state.shape)


class RandomSearch:
    def __init__(self, dim, scale=0.1):
        self.params = jnp.zeros((dim, dim))
        self.scale = scale

    def score(self, candidate, key):
        policy = partial(noisy_linear, candidate, self.scale)
        return rollout(policy, jnp.ones(candidate.shape[0]), key)  # finding

    def search(self, key, rounds):
        best = -jnp.inf
        for i in range(rounds):
            noise_key, eval_key = jax.random.split(jax.random.fold_in(key, i))
            candidate = self.params + 0.1 * jax.random.normal(noise_key, self.params.shape)
            score = self.score(candidate, eval_key)  # finding-also
            self.params = jnp.where(score > best, candidate, self.params)
            best = jnp.maximum(best, score)
        return best


if __name__ == "__main__":
    print(RandomSearch(3).search(jax.random.key(0), 10))
