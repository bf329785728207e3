# a switch of the module that nobody turns while tracing
from contextlib import contextmanager
from jax import lax

EAGER = False
staged: bool = True

@contextmanager
def without_control_flow():
    global EAGER, staged
    kept, other = EAGER, staged
    try:
        EAGER = True
        staged = False
        yield
    finally:
        EAGER = kept
        staged = other

def cond(test, yes, no):
    if EAGER:
        if test:
            return yes()
        return no()
    return lax.cond(test, yes, no)

def repeat(test, step, x):
    if staged:
        return lax.while_loop(test, step, x)
    while test(x):
        x = step(x)
    return x

def collect(x):
    def body(i, x):
        x = cond(i > 0, lambda: x, lambda: -x)
        return repeat(lambda y: y < 10, lambda y: y + (int(y) if EAGER else 1), x)

    return lax.fori_loop(0, 4, body, x)
