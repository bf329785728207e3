# numbers out of shapes

import math
import jax
import numpy as np

@jax.jit
def f(x):
    n = int(x.shape[0] * 0.5)
    scale = 1.0 / math.sqrt(float(x.shape[-1]))
    size = int(np.prod(x.shape))
    names = {x.shape[0]: "rows", str(x.dtype): "type"}
    return x * scale * n * size * float(len(x)), f"{x} {x.shape[0]:d}", len(names)

def main(x):
    y = f(x)
    return float(y[0].sum())
