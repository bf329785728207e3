# source: jax-ml/jax#7826
# blind: sixth

"""MLP of configurable depth."""
import functools

import jax
import jax.numpy as jnp

HIDDEN = [32, 32, 16]


@functools.partial(jax.jit, static_argnames=("sizes",))
def init_params(key, sizes):
    keys = jax.random.split(key, len(sizes))
    return [jax.random.normal(k, (m, n)) for k, m, n in zip(keys, sizes[:-1], sizes[1:])]


def forward(params, x):
    for w in params[:-1]:
        x = jax.nn.relu(x @ w)
    return x @ params[-1]


def main():
    params = init_params(jax.random.key(0), sizes=HIDDEN)  # finding
    print(forward(params, jnp.ones((2, HIDDEN[0]))).shape)


if __name__ == "__main__":
    main()
