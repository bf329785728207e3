# a step counter, a schedule, the length of a list

from functools import partial
import jax
import jax.numpy as jnp

@partial(jax.jit, static_argnames=("i", "lr", "n"))
def step(w, i=0, lr=0.1, n=1):
    return w * lr + i / n

def train(w, steps, decay):
    seen = []
    for i in range(steps):
        w = step(w, i=i)  # finding
        lr = 0.1 * decay**i
        w = step(w, lr=lr)  # finding
        seen.append(w)
        w = step(w, n=len(seen))  # finding
    return w
