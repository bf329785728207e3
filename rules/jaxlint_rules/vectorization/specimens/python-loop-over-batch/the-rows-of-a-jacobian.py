# the rows of a Jacobian

import jax
import jax.numpy as jnp

def positions(q):
    return jnp.cumsum(jnp.cos(q))

def jacobian(q):
    rows = []
    for i in range(q.shape[0]):
        rows.append(jax.grad(lambda q: positions(q)[i])(q))  # finding
    return jnp.stack(rows)

def diagonal(q):
    def output(q, i):
        return positions(q)[i]

    first = jax.grad(lambda q: positions(q)[0])(q)
    return first, [jax.grad(lambda q: positions(q)[i])(q)[i] for i in range(q.shape[0])]  # finding

def layers(q, heads):
    return [jax.grad(lambda q: heads[i](q).sum())(q) for i in range(len(heads))], jax.jacrev(positions)(q)

jacobian(jnp.ones(8)), diagonal(jnp.ones(8))
