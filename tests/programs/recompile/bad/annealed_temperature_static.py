# source: patrick-kidger/equinox#640
# blind: first

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames="tau")
def gumbel_sample(key, logits, tau):
    noise = jax.random.gumbel(key, logits.shape)
    return jax.nn.softmax((logits + noise) / tau)


def anneal(key, logits, steps=100):
    tau = 5.0
    out = logits
    for k in jax.random.split(key, steps):
        out = gumbel_sample(k, logits, tau=tau)  # finding
        tau = max(0.5, tau * 0.97)
    return out


if __name__ == "__main__":
    print(anneal(jax.random.key(0), jnp.zeros(10)))
