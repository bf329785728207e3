# options of nnx are not handed on
import jax.numpy as jnp
from flax import nnx

def read(count):
    if count[...] > 0:  # finding: tracer-branch
        return count[...]
    return -count[...]

nnx.eval_shape(read, nnx.Variable(jnp.array(0)), graph=False)
