# keys under names
import jax

def draws(key):
    keys = dict(zip(("params", "noise"), jax.random.split(key)))
    more = {name: part for name, part in zip(("a", "b"), jax.random.split(keys["params"]))}
    return jax.random.normal(more["a"]) + jax.random.normal(more["b"]) + jax.random.normal(keys["noise"])
