# other ways to format

import jax

@jax.jit
def g(x):
    jax.debug.callback(print, f"x={x}")  # finding
    jax.debug.callback(lambda text, n: print(text, n), "n={}".format(x.shape), x)
    return x

@jax.vmap
def f(x):
    jax.debug.print("x %s" % x)  # finding
    jax.debug.print("x {}".format(x))  # finding
    jax.debug.print("x " + str(x))  # finding
    jax.debug.print("shape %s" % (x.shape,))
    jax.debug.print("{} ".format("name") + "{}", x)
    return x
