# lists that stand beside what is not known in one list
import jax.numpy as jnp

def put(names, params, rows):
    given = []
    for name in names:
        if name in params:
            given.append(params[name][0])
        else:
            given.append([row[name] for row in rows])
    inputs, kernel = given
    return inputs, jnp.squeeze(kernel, 0)
