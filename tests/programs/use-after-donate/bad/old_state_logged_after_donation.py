# source: jax-ml/jax#9675
# blind: eighth

import jax
import jax.numpy as jnp


def update(state, x):
    return {"mean": 0.9 * state["mean"] + 0.1 * x, "n": state["n"] + 1}


update = jax.jit(update, donate_argnums=0)


def track(xs):
    state = {"mean": jnp.zeros(3), "n": jnp.array(0)}
    for x in xs:
        new_state = update(state, x)
        drift = jnp.abs(new_state["mean"] - state["mean"]).max()  # finding
        print(drift)
        state = new_state
    return state


if __name__ == "__main__":
    print(track(jnp.ones((3, 3))))
