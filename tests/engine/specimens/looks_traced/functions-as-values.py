# functions as values
import jax
import jax.numpy as jnp

ACTIVATIONS = {"relu": jax.nn.relu, "none": None, "square": lambda v: v * v}

def compose(*functions):
    def run(x):
        for function in functions:
            if function is not None:
                x = function(x)
        return x

    return run

@jax.jit
def f(x):
    act = ACTIVATIONS.get("relu")
    if act:
        x = act(x)
    stages = [compose(ACTIVATIONS["square"], None), ACTIVATIONS["none"] or jnp.tanh]
    for stage in stages:
        x = stage(x)
    pick = {True: jnp.sum, False: jnp.mean}
    return pick[x.ndim > 1](x)

f(jnp.ones(3))
