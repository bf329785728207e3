# a tracer makes the body of a try raise
import jax
import jax.numpy as jnp
from elsewhere import errors

ERRORS = tuple(errors)
kept = {}

def key_of(x):
    try:
        if x.shape[0] <= 4:
            inside = tuple(float(x[i]) for i in range(x.shape[0]))
        else:
            inside = (float(x[2]),)
        return (float(x[0]), inside)
    except ERRORS:
        return None

def grid(x):
    key = key_of(x)
    if key is None:
        return jnp.meshgrid(x, x)
    kept[key] = jnp.meshgrid(x, x)
    return kept[key]

def trimmed(states, count):
    try:
        n = int(count)
    except jax.errors.ConcretizationTypeError:
        return states
    return [float(state) for state in states[:n]]

@jax.jit
def run(x, count):
    return grid(x)[0], trimmed(jnp.sin(x), count)

def refused(x):
    try:
        x.at[0].set("a")
    except TypeError:
        return True
    return False

print(refused(jnp.ones(3)))
