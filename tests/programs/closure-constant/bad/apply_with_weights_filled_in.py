# source: jax-ml/jax#6905
# blind: seventh

import functools

import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np


def forward(tokens):
    table = hk.Embed(50_000, 512)
    hidden = table(tokens)
    hidden = hk.nets.MLP([2048, 512])(hidden)
    return hk.Linear(50_000)(hidden.mean(axis=1))


def main():
    network = hk.without_apply_rng(hk.transform(forward))
    tokens = jnp.zeros((1, 16), jnp.int32)
    params = network.init(jax.random.PRNGKey(0), tokens)
    predict = jax.jit(functools.partial(network.apply, params))  # finding
    for length in (16, 32, 64):
        logits = predict(jnp.zeros((1, length), jnp.int32))
        print(length, np.asarray(logits.argmax(-1)))


if __name__ == "__main__":
    main()
