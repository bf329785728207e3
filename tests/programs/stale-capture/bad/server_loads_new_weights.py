# blind: fourteenth

import jax
import jax.numpy as jnp


def init_params(key, sizes=(4, 16, 2)):
    keys = jax.random.split(key, len(sizes) - 1)
    return [
        {"w": jax.random.normal(k, (m, n)) / jnp.sqrt(m), "b": jnp.zeros(n)}
        for k, m, n in zip(keys, sizes[:-1], sizes[1:])
    ]


def mlp(params, x):
    for layer in params[:-1]:
        x = jnp.tanh(x @ layer["w"] + layer["b"])
    return x @ params[-1]["w"] + params[-1]["b"]


class PolicyServer:
    def __init__(self, params, epsilon=0.05):
        self.params = params
        self.epsilon = epsilon
        self.version = 0
        self.act = jax.jit(self._act)

    def _act(self, key, obs):
        k_explore, k_action = jax.random.split(key)
        logits = mlp(self.params, obs)  # finding
        greedy = jnp.argmax(logits, axis=-1)
        random = jax.random.randint(k_action, greedy.shape, 0, logits.shape[-1])
        explore = jax.random.bernoulli(k_explore, self.epsilon, greedy.shape)
        return jnp.where(explore, random, greedy)

    def load(self, params):
        self.params = params
        self.version += 1


def main():
    key = jax.random.key(0)
    server = PolicyServer(init_params(jax.random.key(1)))
    obs = jax.random.normal(jax.random.key(2), (64, 4))
    before = server.act(key, obs)
    server.load(init_params(jax.random.key(9)))
    after = server.act(key, obs)
    print("version", server.version, "changed", bool((before != after).any()))


if __name__ == "__main__":
    main()
