# source: jax-ml/jax#4312
# blind: eighteenth

import jax
import jax.numpy as jnp

_KEY = jax.random.key(0)


def next_key():
    global _KEY  # finding-also
    _KEY, sub = jax.random.split(_KEY)  # finding
    return sub


def dropout(x, rate):
    keep = jax.random.bernoulli(next_key(), 1.0 - rate, x.shape)  # finding-also
    return jnp.where(keep, x / (1.0 - rate), 0.0)


@jax.jit
def forward(params, x):
    for w in params[:-1]:
        x = dropout(jax.nn.relu(x @ w), 0.1)
    return x @ params[-1]


def init(sizes):
    return [
        jax.random.normal(next_key(), (i, o)) / i**0.5 for i, o in zip(sizes[:-1], sizes[1:])
    ]


def main():
    params = init((6, 32, 32, 2))
    for _ in range(2):
        x = jax.random.normal(next_key(), (4, 6))
        print(forward(params, x).mean())


if __name__ == "__main__":
    main()
