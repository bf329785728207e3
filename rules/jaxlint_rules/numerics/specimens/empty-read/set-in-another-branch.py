# elements of which the first branch sets each before the second adds to it

import jax.numpy as jnp


def totals(groups, values):
    out = jnp.empty(len(groups))
    for i, members in enumerate(groups):
        for j, member in enumerate(members):
            if j == 0:
                out = out.at[i].set(values[member])
            else:
                out = out.at[i].add(values[member])
    return out
