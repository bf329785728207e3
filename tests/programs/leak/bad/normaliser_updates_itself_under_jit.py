# source: google/flax#3997
# blind: second

import jax
import jax.numpy as jnp


class RunningNorm:
    def __init__(self, size, momentum=0.99):
        self.mean = jnp.zeros(size)
        self.var = jnp.ones(size)
        self.momentum = momentum

    def update(self, x):
        m = self.momentum
        self.mean = m * self.mean + (1 - m) * x.mean(axis=0)  # finding
        self.var = m * self.var + (1 - m) * x.var(axis=0)  # finding-also

    def __call__(self, x, train=True):
        if train:
            self.update(x)
        return (x - self.mean) / jnp.sqrt(self.var + 1e-5)


class Policy:
    def __init__(self, key, size):
        self.norm = RunningNorm(size)
        self.w = jax.random.normal(key, (size, 2))

        @jax.jit
        def act(w, obs):
            return jnp.tanh(self.norm(obs) @ w)

        self.act = act


def main():
    policy = Policy(jax.random.key(0), 3)
    for obs in jax.random.normal(jax.random.key(1), (4, 8, 3)):
        actions = policy.act(policy.w, obs)
    print(actions.shape, policy.norm.mean + 1)


if __name__ == "__main__":
    main()
