# flax's own containers are trees, its modules are not

import flax.linen as nn
import jax

@jax.jit
def scaled(variables):
    return jax.tree.map(lambda v: 2 * v, variables)

def both(variables, names):
    frozen = scaled(nn.FrozenDict(variables))
    boxed = scaled(nn.Partitioned(variables["w"], names=names))
    return frozen, boxed

def wrong():
    return scaled(nn.Dense(3))  # finding
