# blind: ninth

import jax
import jax.numpy as jnp
import equinox as eqx


class Member(eqx.Module):
    first: eqx.nn.Linear
    second: eqx.nn.Linear

    def __init__(self, width, key):
        a, b = jax.random.split(key)
        self.first = eqx.nn.Linear(3, width, key=a)
        self.second = eqx.nn.Linear(width, 1, key=b)

    def __call__(self, x):
        return self.second(jax.nn.relu(self.first(x)))


def ensemble(size, width, seed):
    key = jax.random.key(seed)
    return [Member(width, key) for _ in range(size)]  # finding


def spread(members, x):
    return jnp.std(jnp.stack([member(x) for member in members]))


if __name__ == "__main__":
    print(spread(ensemble(4, 16, 0), jnp.ones(3)))
