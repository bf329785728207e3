# source: liesel-devs/liesel#272
# blind: fifth

import jax
import jax.numpy as jnp


def field(state):
    x, v = state
    return v, -x


def advance(state, dt):
    dx, dv = field(state)
    return state[0] + dt * dx, state[1] + dt * dv


advance = jax.jit(advance, donate_argnames=["state"])


def trajectory(x0, v0, dt, steps, keep_every):
    state = (x0, v0)
    kept = []
    for i in range(steps):
        if i % keep_every == 0:
            kept.append(state)  # finding-also
        state = advance(state, dt)
    positions = jnp.stack([x for x, _ in kept])  # finding
    return positions, state


if __name__ == "__main__":
    positions, _ = trajectory(jnp.ones(4), jnp.zeros(4), 0.1, 10, 2)
    print(positions)
