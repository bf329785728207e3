# parts that have their places under names of their own

import jax
import jax.numpy as jnp

@jax.jit
def restored(fields, values, boundaries):
    for boundary in boundaries:
        fields = jnp.where(boundary.mask, values[f"{boundary.name}_E"], fields)
    return fields

class Boundary:
    def __init__(self, name):
        self.name, self.mask = name, jnp.ones((4, 4), bool)

def all_restored(fields, values):
    @jax.jit
    def run(fields):
        for boundary in [Boundary("left"), Boundary("right"), Boundary("top"), Boundary("floor")]:
            fields = fields @ values[f"{boundary.name}_E"]
        return fields
    return run(fields)
