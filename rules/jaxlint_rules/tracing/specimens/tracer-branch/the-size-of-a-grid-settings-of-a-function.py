# the size of a grid, settings of a function with derivatives of its own, an object that is compared

from dataclasses import dataclass
from functools import partial
import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl

def kernel(x_ref, o_ref):
    if pl.num_programs(0) == 1:
        o_ref[...] = x_ref[...]
    if pl.program_id(0) == 0:  # finding
        o_ref[...] = 2 * x_ref[...]

def run(x):
    return pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype), grid=(1,))(x)

@partial(jax.custom_vjp, nondiff_argnums=tuple(range(1, 20)))
def cut(x, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, flag):
    return x

def forward(x, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, flag):
    return x, (x,)

def backward(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, flag, kept, cotangent):
    if flag:
        return (-cotangent,)
    return (cotangent,)

cut.defvjp(forward, backward)

@jax.jit
def step(x):
    return cut(x, *[0] * 18, True)

@dataclass
class Scales:
    kernel: object = None

NONE = Scales()
OTHER = input()

@jax.jit
def dense(x, scales):
    if scales == NONE or scales == OTHER:
        return x
    if x == 0:  # finding
        return -x
    return x * scales.kernel

def main(given):
    return dense(jnp.float32(1), given()), run(jnp.ones(8)), step(jnp.ones(3))
