# source: jax-ml/jax#9675
# blind: eighth

import jax
import jax.numpy as jnp
import numpy as np


def update(state, x):
    return {"mean": 0.9 * state["mean"] + 0.1 * x, "n": state["n"] + 1}


update = jax.jit(update, donate_argnums=0)


def track(first, xs):
    state = {"mean": jnp.zeros(3), "n": jnp.array(0)}
    before = np.array(state["mean"])
    state = update(state, first)
    drift = np.abs(np.asarray(state["mean"]) - before).max()
    for x in xs:
        state = update(state, x)
    return state, drift


if __name__ == "__main__":
    print(track(jnp.ones(3), jnp.ones((3, 3))))
