# short loops, a callback in few of the steps, one after the loop, and loops of unknown length

import functools

import jax
import jax.numpy as jnp


def note(step, value):
    print(step, value)


@jax.jit
def simulate(state):
    def body(state, t):
        state = state - 0.1 * jnp.sin(state)
        jax.lax.cond(t % 1000 == 0, lambda: jax.debug.callback(note, t, state), lambda: None)
        return state, state

    state, states = jax.lax.scan(body, state, jnp.arange(20_000))
    jax.debug.callback(note, 0, states.mean())
    return state


@jax.jit
def epochs(state):
    def body(state, t):
        jax.debug.print("epoch {}", t)
        return jnp.tanh(state), None

    return jax.lax.scan(body, state, jnp.arange(50))[0]


@functools.partial(jax.jit, static_argnames="steps")
def unknown(state, steps):
    def body(t, state):
        jax.debug.print("{}", t)
        return jnp.tanh(state)

    return jax.lax.fori_loop(0, steps, body, state)


print(simulate(jnp.ones(3)), epochs(jnp.ones(3)))
