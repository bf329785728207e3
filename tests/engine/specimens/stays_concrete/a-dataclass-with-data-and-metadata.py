# a dataclass with data and metadata
from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp

@partial(jax.tree_util.register_dataclass, data_fields=["x"], meta_fields=["steps", "corrector"])
@dataclass
class Solver:
    x: jax.Array
    steps: int
    corrector: bool

@jax.jit
def run(solver):
    n = 1
    if solver.corrector:
        n = 1 + solver.steps
    for _ in range(n):
        solver = Solver(solver.x * 2, solver.steps, solver.corrector)
    return solver

run(Solver(jnp.ones(2), 2, True))
