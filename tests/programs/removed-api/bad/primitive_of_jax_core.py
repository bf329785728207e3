# source: jax-ml/jax#29943
# blind: ninth

import jax
import jax.numpy as jnp
import numpy as np
from jax import core
from jax.interpreters import mlir

scale_p = core.Primitive("scale_by_two")  # finding


def scale(x):
    return scale_p.bind(x)


@scale_p.def_impl
def _impl(x):
    return np.asarray(x) * 2


@scale_p.def_abstract_eval
def _abstract(x):
    return core.ShapedArray(x.shape, x.dtype)


mlir.register_lowering(scale_p, mlir.lower_fun(lambda x: x * 2, multiple_results=False))

if __name__ == "__main__":
    print(jax.jit(scale)(jnp.ones(3)))
