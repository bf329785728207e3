# context, defaults and globals that are rebound on the host
import contextlib

import jax
import jax.numpy as jnp

precision = "float32"
debug = False

@contextlib.contextmanager
def using(name):
    global precision
    before, precision = precision, name
    try:
        yield precision
    finally:
        precision = before

@jax.jit
def f(x):
    if debug:
        jax.debug.print("x = {}", x)
    if precision == "bfloat16":
        x = x.astype(jnp.bfloat16)
    with jax.named_scope("body"):
        return x * 2

with using("bfloat16") as name:
    if name == precision:
        f(jnp.ones(3))
