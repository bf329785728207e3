# source: jax-ml/jax#25800
# blind: third

import jax
import jax.numpy as jnp


def hold(state):
    return state["pos"], jnp.float32(0.0)


def seek(state):
    step = 0.1 * (state["goal"] - state["pos"])
    return state["pos"] + step, step


def drift(state):
    return tuple([state["pos"] + 0.01, jnp.zeros_like(state["pos"])])


MODES = {"hold": hold, "seek": seek, "drift": drift}


def control(mode, state):
    return jax.lax.switch(mode, list(MODES.values()), state)


@jax.jit
def simulate(modes, state):
    def step(s, mode):
        pos, moved = control(mode, s)
        return {**s, "pos": pos}, moved

    return jax.lax.scan(step, state, modes)[1]


if __name__ == "__main__":
    print(simulate(jnp.array([0, 1, 2]), {"pos": jnp.float32(0.0), "goal": jnp.float32(1.0)}))
