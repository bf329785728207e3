# texts that fit

import jax
from texts import TEXTS

@jax.jit
def f(x, y, *rest, **named):
    jax.debug.print("x {} {x[0]:.2f} {0!r}", x, x=x)
    jax.debug.print("{{}} {:{width}}", x, width=3)
    jax.debug.print("done", ordered=True)
    jax.debug.print("{} {}", *rest)
    jax.debug.print("{a}", **named)
    jax.debug.print(TEXTS[0], x)
    jax.debug.print("x", x, skip_format_check=True)
    return x + y
