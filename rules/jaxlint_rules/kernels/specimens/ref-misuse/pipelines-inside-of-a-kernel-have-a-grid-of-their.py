# pipelines inside of a kernel have a grid of their own

import functools
import jax
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu

@jax.jit
def call(x):
    @functools.partial(pl.kernel, out_type=x, mesh=pltpu.create_tensorcore_mesh("core"))
    def kernel(x_hbm, o_hbm):
        @functools.partial(pltpu.emit_pipeline, grid=(2,))
        def pipeline(x_ref, o_ref):
            o_ref[...] = x_ref[...] + pl.program_id(0)

        pipeline(x_hbm, o_hbm)

    return kernel(x)
