# loops over Python counts next to traced values
import jax
import jax.numpy as jnp

@jax.jit
def f(x):
    total, count, best = 0.0, 0, None
    for i, row in enumerate(x):
        total = total + row.sum() * i
        count += 1
        if count > 1:
            best = row
        if i == 0 or best is None:
            continue
        while count < 3:
            count += 1
    if count > 2 and best is not None:
        total = total + best.sum()
    return total / count

f(jnp.ones((3, 2)))
