# a callback in each step of a scan, in a helper, and in a nested loop

import jax
import jax.numpy as jnp
from jax.experimental import io_callback


def note(step, value):
    print(step, value)


def orbit(state, dt):
    x, v = state
    return x + dt * v, v - dt * x


def tell_energy(t, state):
    jax.debug.callback(note, t, state[0] ** 2 + state[1] ** 2)  # finding


@jax.jit
def simulate(state):
    def body(state, t):
        state = orbit(state, 0.01)
        tell_energy(t, state)
        return state, None

    return jax.lax.scan(body, state, jnp.arange(20_000))[0]


@jax.jit
def relax(grid):
    def inner(i, grid):
        grid = 0.5 * (grid + jnp.roll(grid, 1))
        jax.debug.print("{}", grid[0])  # finding
        return grid

    def outer(grid, _):
        return jax.lax.fori_loop(0, 100, inner, grid), None

    return jax.lax.scan(outer, grid, length=200)[0]


def draw(state, _):
    noise = io_callback(lambda: 0.5, jax.ShapeDtypeStruct((), jnp.float32))  # finding
    return state + noise, state


print(simulate((jnp.ones(3), jnp.zeros(3))), relax(jnp.arange(64.0)))
walk = jax.jit(lambda start: jax.lax.scan(draw, start, None, length=8_000))
print(walk(jnp.float32(0.0)))
