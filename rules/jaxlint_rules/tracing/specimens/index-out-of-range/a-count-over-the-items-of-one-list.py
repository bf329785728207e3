# a count over the items of a list with one item, and with two

import jax.numpy as jnp


def chosen(theta, names):
    found, count = {}, 0
    for group in names.values():
        for name in group:
            found[name] = theta[count]
            count += 1
    return found


print(chosen(jnp.array([0.1]), {"first": ["a"]}))
