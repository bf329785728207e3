# blind: every clause

import jax
import jax.numpy as jnp
import optax


def fit(params, xs):
    tx = optax.adam(1e-2)

    def step(carry, x):
        p, s = carry
        g = jax.grad(lambda q: jnp.sum(q * x))(p)
        u, s = tx.update(g, s)
        return optax.apply_updates(p, u), s  # finding-also

    return jax.lax.scan(step, (params, tx.init(params)), xs)  # finding


print(fit(jnp.ones(2), jnp.ones((3, 2))))
