# blind: every clause

import flax
import jax
import jax.numpy as jnp
import numpy as np


@flax.struct.dataclass
class Params:
    w: jax.Array
    sizes: np.ndarray = flax.struct.field(pytree_node=False)  # finding-also


@jax.jit
def forward(p, x):
    return (x @ p.w)[: p.sizes[0]]


for seed in range(2):
    print(forward(Params(jnp.eye(3) * seed, np.array([2, 1])), jnp.ones(3)))  # finding
