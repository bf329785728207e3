# source: google/flax#2846
# blind: eighth

import jax
import jax.numpy as jnp


def dropout(key, x, rate):
    keep = jax.random.bernoulli(key, 1 - rate, x.shape)
    return jnp.where(keep, x / (1 - rate), 0)


@jax.jit
def forward(layers, x, key):
    for w in layers:
        x = jax.nn.relu(x @ w)
        x = dropout(key, x, 0.1)  # finding
    return x


if __name__ == "__main__":
    print(forward([jnp.eye(4)] * 3, jnp.ones((2, 4)), jax.random.key(0)))
