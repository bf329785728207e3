# jit in loops that compile something new or only once
import jax
import jax.numpy as jnp

functions = {}
for name, function in {"sin": jnp.sin, "cos": jnp.cos}.items():
    functions[name] = jax.jit(function)

def compiled(depth):
    @jax.jit
    def run(x):
        for _ in range(depth):
            x = x * 2
        return x

    return run

runs = [compiled(depth) for depth in (1, 2, 3)]
for run in runs:
    run(jnp.ones(2))
for name, function in functions.items():
    print(name, function(1.0))
