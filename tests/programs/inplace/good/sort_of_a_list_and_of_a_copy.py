# blind: ninth

import jax
import jax.numpy as jnp
import numpy as np


def conformal_quantile(scores, alpha):
    scores = np.array(scores)
    scores.sort()
    rank = min(int((len(scores) + 1) * (1 - alpha)), len(scores) - 1)
    return scores[rank]


def names(params):
    found = list(params)
    found.sort()
    return found


if __name__ == "__main__":
    x = jax.random.normal(jax.random.key(0), (50,))
    print(conformal_quantile(jnp.abs(x), 0.1), jnp.sort(x)[0], names({"w": x, "b": x}))
