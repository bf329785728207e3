# vmap, lists of arrays of several shapes, carried state, conditions

import jax
import jax.numpy as jnp

def norm(x):
    return jnp.sqrt(jnp.sum(x**2))

def scaled(x, by):
    return x * by

def main(images, layers):
    xs = jnp.ones((100, 8))
    a = jax.vmap(norm)(xs)
    e = jnp.stack([scaled(image, x) for image, x in zip(images, xs)])
    f = jnp.stack([scaled(jnp.ones(8), 2.0) for x, y in zip(xs, xs)])
    b = jnp.stack([norm(image) for image in images])
    c = jnp.stack([norm(x) for x in xs if x.sum() > 0])
    state, seen = jnp.zeros(8), []
    for x in xs:
        state = state + x
        seen.append(state)
    d = jnp.array([1.0 * i for i in range(10)])
    return a, b, c, d, e, f, jnp.stack(seen)
