# source: keras-team/keras#20724
# blind: ninth

import jax
import jax.numpy as jnp


class SeedGenerator:
    def __init__(self, seed):
        self.state = jax.random.key(seed)

    def next(self):
        self.state, key = jax.random.split(self.state)  # finding
        return key


class NoisyLayer:
    def __init__(self, rate):
        self.rate = rate
        self.seeds = SeedGenerator(1337)

    def __call__(self, x):
        keep = jax.random.bernoulli(self.seeds.next(), 1 - self.rate, x.shape)
        return jnp.where(keep, x / (1 - self.rate), 0.0)


layer = NoisyLayer(0.3)


@jax.jit
def forward(w, x):
    return layer(x @ w)


if __name__ == "__main__":
    w, x = jnp.ones((4, 4)), jnp.ones((2, 4))
    print(forward(w, x))
    print(layer(x))
