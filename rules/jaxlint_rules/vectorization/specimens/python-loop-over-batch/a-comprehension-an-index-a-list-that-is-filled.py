# a comprehension, an index, a list that is filled

import jax
import jax.numpy as jnp

def norm(x):
    return jnp.sqrt(jnp.sum(x**2))

def main():
    xs = jnp.ones((100, 8))
    a = jnp.stack([norm(x) for x in xs])  # finding
    b = jnp.array([norm(xs[i]) for i in range(xs.shape[0])])  # finding
    rows = []
    for x in xs:  # finding
        rows.append(norm(x))
    return a, b, jnp.stack(rows)

main()
