# numbers fetched at once, keys, few elements, steps of a jitted function, lists

import jax
import jax.numpy as jnp
import numpy as np

@jax.jit
def step(w, batch):
    return w - 0.1 * batch.mean(0)

def main(w, key, images):
    xs = jnp.linspace(0.0, 1.0, 1000)
    for x in np.asarray(xs):
        print(x)
    for x in xs.tolist():
        print(x)
    for k in jax.random.split(key, 3):
        w = w + jax.random.normal(k, w.shape)
    for scale in jnp.array([0.1, 0.5, 0.9]):
        w = w * scale
    batches = jax.random.normal(key, (100, 32, 8))
    for batch in batches:
        w = step(w, batch)
    for image in images:
        w = w + image
    for name, leaf in jax.tree.leaves_with_path({"w": w}):
        print(name, leaf.shape)
    return w

@jax.jit
def staged(xs):
    return sum(x for x in xs)
