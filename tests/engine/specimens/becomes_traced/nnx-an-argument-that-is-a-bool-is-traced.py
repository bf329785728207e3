# nnx: an argument that is a bool is traced
import jax.numpy as jnp
from flax import nnx

@nnx.jit
def forward(x, flag):
    if flag:  # finding: tracer-branch
        x = x * 2
    return x

forward(jnp.ones(2), True)
