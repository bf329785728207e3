# a method of something that a pytree holds
import jax

@jax.jit
def reduced(transforms, data):
    grid = transforms["grid"]
    return grid.compress(data["iota"])
