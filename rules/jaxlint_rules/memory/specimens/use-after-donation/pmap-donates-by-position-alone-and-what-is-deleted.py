# `pmap` donates by position alone, and what is deleted anyway may have been donated

from functools import partial
import jax
import jax.numpy as jnp

@partial(jax.pmap, donate_argnums=0)
def step(params, width):
    return jax.tree.map(lambda p: p + width, params)

def by_position(params, width):
    new = step(params, width)
    return jax.tree.map(jnp.subtract, new, params)  # finding

def by_name(params, width):
    new = step(params=params, width=width)
    return jax.tree.map(jnp.subtract, new, params)

add = jax.jit(lambda tree: jax.tree.map(lambda p: p + 1, tree), donate_argnums=0)

class Trainer:
    def clear(self, tree):
        return jax.tree.map(lambda x: x.delete() if isinstance(x, jax.Array) else None, tree)

    def run(self, tree):
        new = add(tree)
        self.clear(tree)
        return new

def shown(tree):
    new = add(tree)
    print(tree)  # finding
    return new
