# source: google-deepmind/weathernext#41
# blind: third

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

REDUCTIONS = {"mean": jnp.mean, "worst": jnp.max, "median": jnp.median}
HOST_REDUCTIONS = {"mean": np.mean, "worst": np.max}


@partial(jax.jit, static_argnames="names")
def evaluate(forecast, truth, names=tuple(REDUCTIONS)):
    err = jnp.abs(forecast - truth)
    return {name: REDUCTIONS[name](err) for name in names}


def summarise(rows):
    table = jax.device_get(rows)
    return {
        name: reduce([row[name] for row in table]) for name, reduce in HOST_REDUCTIONS.items()
    }


if __name__ == "__main__":
    a = jnp.arange(6.0).reshape(2, 3)
    print(summarise([evaluate(a, a + i) for i in range(3)]))
