# a jitted function whose shapes are asked for

from functools import partial
import jax

@partial(jax.jit, static_argnames="k")
def top(x, k):
    return x[:k]

def first(x, k):
    return top(x, k=k)  # finding

x = jax.numpy.ones(8)
jax.eval_shape(top, x, k=3)
jax.eval_shape(first, x, 3)
