# function: relax
# arguments: x=array
# refused: `self._key`

"""A property that hands out a fresh key each time it is read."""

import jax
import jax.numpy as jnp


class Keys:
    def __init__(self, seed):
        self._key = jax.random.key(seed)

    @property
    def fresh(self):
        self._key, part = jax.random.split(self._key)
        return part


KEYS = Keys(0)


def noisy(x):
    return x + 0.1 * jax.random.normal(KEYS.fresh, x.shape)


def relax(x):
    return 0.9 * noisy(x)


def main():
    x = jnp.zeros(64)
    for _ in range(50):
        x = relax(x)
    print("spread", jnp.std(x))


if __name__ == "__main__":
    main()
