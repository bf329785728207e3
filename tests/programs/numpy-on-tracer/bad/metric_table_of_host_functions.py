# source: google-deepmind/weathernext#41
# blind: third

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

REDUCTIONS = {
    "mean": jnp.mean,
    "worst": jnp.max,
    "median": np.median,
}


def residual(forecast, truth):
    return jnp.abs(forecast - truth)


def score(name, forecast, truth):
    reduce = REDUCTIONS[name]
    return reduce(residual(forecast, truth))  # finding


@partial(jax.jit, static_argnames="names")
def evaluate(forecast, truth, names=tuple(REDUCTIONS)):
    return {name: score(name, forecast, truth) for name in names}


if __name__ == "__main__":
    a = jnp.arange(6.0).reshape(2, 3)
    print(evaluate(a, a + 1.0))
