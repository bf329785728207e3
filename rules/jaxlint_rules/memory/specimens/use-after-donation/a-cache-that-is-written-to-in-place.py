# a cache that is written to in place

import jax
import jax.numpy as jnp

def _append(cache, k, position):
    return jax.lax.dynamic_update_slice(cache, k[None], (position, 0))

append = jax.jit(_append, donate_argnums=0)

def donating(*positions):
    return lambda function: jax.jit(function, donate_argnums=positions)

@donating(0)
def shifted(window, row):
    return jnp.roll(window, -1, axis=0).at[-1].set(row)

def watch(rows):
    window, change = jnp.zeros((8, 4)), 0.0
    for row in rows:
        moved = shifted(window, row)
        change = change + jnp.abs(moved - window).sum()  # finding
        window = moved
    return change

class Decoder:
    def __init__(self, length, dim):
        self.state = {"k": jnp.zeros((length, dim)), "position": 0}

    def push(self, k):
        grown = append(self.state["k"], k, self.state["position"])
        drift = jnp.abs(grown - self.state["k"]).max()  # finding
        self.state = {"k": grown, "position": self.state["position"] + 1}
        return drift

    def extend(self, k):
        before = self.state["k"].sum()
        self.state["k"] = append(self.state["k"], k, self.state["position"])
        return self.state["k"].sum() - before
