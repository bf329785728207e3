# source: patrick-kidger/equinox#973
# blind: ninth

import timeit

import equinox as eqx
import jax
import jax.numpy as jnp


class Block(eqx.Module):
    first: eqx.nn.Linear
    second: eqx.nn.Linear

    def __init__(self, width, key):
        a, b = jax.random.split(key)
        self.first = eqx.nn.Linear(width, 4 * width, key=a)
        self.second = eqx.nn.Linear(4 * width, width, key=b)

    def __call__(self, x):
        return x + self.second(jax.nn.gelu(self.first(x)))


@eqx.filter_jit
def forward(block, x):
    return jax.vmap(block)(x)


def report(width=128, repeat=50):
    block = Block(width, jax.random.key(0))
    x = jnp.ones((256, width))
    forward(block, x).block_until_ready()
    seconds = timeit.timeit(lambda: forward(block, x), number=repeat)  # finding
    return seconds / repeat


if __name__ == "__main__":
    print(f"{report() * 1e6:.1f} us")
