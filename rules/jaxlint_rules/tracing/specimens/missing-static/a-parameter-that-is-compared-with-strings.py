# a parameter that is compared with strings

import jax

@jax.jit
def reduce(x, how):
    if how == "mean":  # finding
        return x.mean()
    if how == "sum":
        return x.sum()
    raise ValueError(how)
