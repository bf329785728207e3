# questions for tracers by type, and of one of two values
import jax
import jax.numpy as jnp
import numpy as np

def is_tracer(x):
    return isinstance(x, jax.core.Tracer)

def check(x):
    array = jnp.asarray(x)
    if is_tracer(x) or is_tracer(array):
        return
    if np.any(np.asarray(array) <= 0.0):
        raise ValueError(float(array))

def same(x):
    if type(x) != jax.interpreters.partial_eval.DynamicJaxprTracer:
        if len(jnp.unique(x)) > 1:
            raise ValueError("different")
    return x

class Pair:
    def __init__(self, a, b):
        self.a, self.b = a, b

jax.tree_util.register_dataclass(Pair, data_fields=["a", "b"], meta_fields=[])

@jax.jit
def product(pair, y):
    check(pair.a)
    check(y)
    return pair.a * same(y)

product(Pair(1.0, 2.0), 3.0)
check(1.0)
