# source: climate-analytics-lab/jax-gcm#175
# blind: eighth

import jax
import jax.numpy as jnp


@jax.jit
def stable_logsumexp(x):
    x = x.astype(jnp.float64)  # finding
    m = x.max(axis=-1, keepdims=True)
    return (m + jnp.log(jnp.sum(jnp.exp(x - m), axis=-1, keepdims=True))).astype(jnp.float32)


def evidence(logits):
    return stable_logsumexp(logits).sum()


if __name__ == "__main__":
    print(evidence(jnp.ones((3, 5))))
