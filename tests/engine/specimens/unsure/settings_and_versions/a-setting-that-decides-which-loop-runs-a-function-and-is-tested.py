# a setting that decides which loop runs a function, and is tested in the function
import jax
import jax.numpy as jnp

def solve(x, verbose: bool = False, quiet=None):
    def step(state):
        x, i = state
        if verbose:
            print(f"{i:3d} {jnp.linalg.norm(x):.2e}")
        if not quiet:
            print(f"{i:3d}")
        return x * 0.5, i + 1

    def going(state):
        return state[1] < 10

    state = (x, 0)
    if verbose or not quiet:
        while going(state):
            state = step(state)
    else:
        state = jax.lax.while_loop(going, step, state)
    return state
