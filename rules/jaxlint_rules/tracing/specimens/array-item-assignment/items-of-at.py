# items of `.at`

import jax
import jax.numpy as jnp
import pandas as pd

def deposit(cells, charge):
    grid = jnp.zeros(16)
    for cell, q in zip(cells, charge):
        grid.at[cell] += q  # finding
    grid.at[0] = 1.0  # finding
    grid = grid.at[1].add(2.0)
    return grid

def table(names):
    frame = pd.DataFrame({"n": [0] * len(names)}, index=names)
    for name in names:
        frame.at[name, "n"] += 1
    return frame
