# a part of the key, with the number of the step folded in

import jax

def noise(key, step):
    part, _ = jax.random.split(key)
    return jax.random.normal(jax.random.fold_in(part, step))

def dropped(key):
    part, _ = jax.random.split(key)
    return jax.random.normal(jax.random.fold_in(part, jax.lax.axis_index("data")))

def train(key, steps):
    total = noise(key, 0) + noise(key, 1)
    for step in range(steps):
        total = total + noise(key, step)
    for step in range(steps):
        total = total + dropped(key)  # finding
    return total
