# source: jax-ml/jax#12596
# blind: second

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import io_callback


class ReplayBuffer:
    def __init__(self, capacity, shape):
        self.data = np.zeros((capacity, *shape), np.float32)
        self.size = 0

    def push(self, row):
        self.data[self.size % len(self.data)] = row
        self.size += 1

    def sample(self, seed):
        rng = np.random.default_rng(int(seed))
        index = rng.integers(0, max(self.size, 1), 4)
        return self.data[index]


def make_step(buffer):
    @jax.jit
    def step(w, row, seed):
        io_callback(buffer.push, None, row, ordered=True)
        batch = io_callback(buffer.sample, None, seed, ordered=True)  # finding
        return w - 0.1 * jax.grad(lambda w: jnp.mean((batch @ w) ** 2))(w)

    return step


def main():
    buffer = ReplayBuffer(16, (3,))
    step = make_step(buffer)
    w = jnp.ones(3)
    for seed in range(4):
        w = step(w, jnp.full(3, seed, jnp.float32), seed)
    print(w)


if __name__ == "__main__":
    main()
