# finite differences, sorting and set operations on structure
import jax
import jax.numpy as jnp

@jax.jit
def f(groups):
    names = sorted(groups, key=lambda name: groups[name].size, reverse=True)
    largest = max(groups.values(), key=lambda value: value.size)
    kinds = {value.dtype for value in groups.values()}
    if len(kinds) > 1 or names[0] > names[-1] or any(value.ndim > 1 for value in groups.values()):
        largest = largest * 2
    common = set(names) & {"a", "b"}
    if common and all(name in groups for name in common):
        return {name: groups[name] + 1 for name in names if name in common}, largest
    return groups, largest

f({"a": jnp.ones(3), "b": jnp.ones(2)})
