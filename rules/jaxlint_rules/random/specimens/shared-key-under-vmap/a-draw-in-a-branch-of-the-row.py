# a draw in a branch of the row, or in a function within it

import jax
import jax.numpy as jnp

def step(positions, rng):
    @jax.vmap
    def move(position):
        blocked = jnp.all(position == 3)
        return jax.lax.cond(blocked, lambda: jax.random.uniform(rng, (2,)), lambda: position)  # finding

    return move(positions)

def in_a_helper(rows, rng):
    def one(row):
        def noise():
            return jax.random.normal(rng, row.shape)

        return row + noise()  # finding

    return jax.vmap(one)(rows)

def mapped(positions, rng):
    def move(position, key):
        blocked = jnp.all(position == 3)
        return jax.lax.cond(blocked, lambda: jax.random.uniform(key, (2,)), lambda: position)

    return jax.vmap(move)(positions, jax.random.split(rng, len(positions)))

def compared(candidates, rng):
    def score(candidate):
        return jax.lax.cond(candidate > 0, lambda: jax.random.normal(rng) * candidate, lambda: candidate)

    return jax.vmap(score)(candidates)
