# source: ryan112358/mbi#179
# blind: ninth

import functools

import jax
import jax.numpy as jnp
import numpy as np
import optax


def negative_log_likelihood(design, counts, beta):
    rate = jnp.exp(design @ beta)
    return jnp.mean(rate - counts * jnp.log(rate))


def fit(design, counts, steps=100):
    objective = jax.jit(jax.value_and_grad(functools.partial(negative_log_likelihood, design, counts)))  # finding
    beta = jnp.zeros(design.shape[1])
    tx = optax.adam(1e-2)
    state = tx.init(beta)

    @jax.jit
    def apply(beta, state, grads):
        updates, state = tx.update(grads, state)
        return optax.apply_updates(beta, updates), state

    for _ in range(steps):
        _, grads = objective(beta)
        beta, state = apply(beta, state, grads)
    return beta


if __name__ == "__main__":
    rng = np.random.default_rng(1)
    design = jnp.asarray(rng.normal(size=(500_000, 20)), jnp.float32)
    print(fit(design, jnp.ones(500_000)))
