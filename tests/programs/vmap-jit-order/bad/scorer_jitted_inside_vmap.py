# source: jax-ml/jax#6312
# blind: fifth

import jax
import jax.numpy as jnp
from jax import jit, random, vmap


@jit
def predict(weights, x):
    return jnp.tanh(jnp.matmul(x, weights))


def run(weights, stream):
    totals = []
    for batch in stream:
        out = vmap(predict, in_axes=(None, 0))(weights, batch)  # finding
        totals.append(out.sum())
    return jnp.stack(totals)


if __name__ == "__main__":
    k1, k2 = random.split(random.key(0))
    weights = random.normal(k1, (64, 64))
    stream = list(random.normal(k2, (5, 32, 64)))
    print(run(weights, stream))
