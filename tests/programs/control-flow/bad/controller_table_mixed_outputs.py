# source: jax-ml/jax#25800
# blind: third

import jax
import jax.numpy as jnp


def hold(state):
    return state["pos"]


def seek(state):
    return state["pos"] + 0.1 * (state["goal"] - state["pos"]), state["goal"]


def drift(state):
    return state["pos"] + 0.01


MODES = {"hold": hold, "seek": seek, "drift": drift}


def control(mode, state):
    return jax.lax.switch(mode, list(MODES.values()), state)  # finding


@jax.jit
def simulate(modes, state):
    def step(s, mode):
        return {**s, "pos": control(mode, s)}, s["pos"]

    return jax.lax.scan(step, state, modes)[1]


if __name__ == "__main__":
    print(simulate(jnp.array([0, 1, 2]), {"pos": jnp.float32(0.0), "goal": jnp.float32(1.0)}))
