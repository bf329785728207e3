# source: jax-ml/jax#2219

import jax
import jax.numpy as jnp
import numpy as np


def apply_boundary(field, value):
    field = field.at[0].set(value)
    return field.at[-1].set(value).at[:, 0].add(-1.0)


@jax.jit  # finding-other
def step(state):
    state = dict(state)
    state["field"] = apply_boundary(state["field"], 1.0)
    state["count"] += 1
    return state


def suppress(probabilities, threshold):
    scores = np.array(probabilities)
    scores[scores < threshold] = 0.0
    scores.sort()
    return scores


if __name__ == "__main__":
    state = {"field": jnp.zeros((4, 4)), "count": 0}
    for _ in range(3):
        state = step(state)
    print(suppress(state["field"].ravel(), 0.5), state["count"])
