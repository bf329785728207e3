# what two dicts fill the parameters of a function with
import equinox as eqx
import jax

def mixture(count, **params):
    if count == 0:
        return []
    return [params[f"rate_{i}"] for i in range(count)]

def make(names, constants):
    def loss(x):
        values = {name: jax.lax.dynamic_index_in_dim(x, i) for name, i in names.items()}
        return mixture(**constants, **values)

    return eqx.filter_jit(loss)
