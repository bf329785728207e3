# blind: tenth

import jax
import jax.numpy as jnp

history = []


def accept(x):
    history.append("accepted")  # finding
    return x * 1.1


def reject(x):
    history.append("rejected")  # finding-also
    return x * 0.9


@jax.jit
def move(x, energy):
    return jax.lax.cond(energy < 0.0, accept, reject, x)


x = jnp.ones(2)
for e in (-1.0, 2.0, -3.0):
    x = move(x, e)
print(x, history)
