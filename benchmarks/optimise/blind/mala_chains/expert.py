# After blackjax (mcmc/mala.py: gradient and density kept in the state; lax.scan over keys).
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np


def make_sampler(log_density, step_size):
    value_and_grad = jax.value_and_grad(log_density)

    def log_proposal(to, start, grad):
        mean = start + step_size * grad
        return -jnp.sum((to - mean) ** 2) / (4 * step_size)

    def step(state, key):
        x, value, grad = state
        noise_key, accept_key = jax.random.split(key)
        noise = jax.random.normal(noise_key, x.shape)
        proposal = x + step_size * grad + jnp.sqrt(2 * step_size) * noise
        new_value, new_grad = value_and_grad(proposal)
        log_ratio = new_value - value + log_proposal(x, proposal, new_grad) - log_proposal(proposal, x, grad)
        accept = jnp.log(jax.random.uniform(accept_key)) < log_ratio
        state = jax.tree.map(partial(jnp.where, accept), (proposal, new_value, new_grad), state)
        return state, (state[0], accept)

    @partial(jax.jit, static_argnums=2)
    def run(key, x0, n):
        return jax.lax.scan(step, (x0, *value_and_grad(x0)), jax.random.split(key, n))[1]

    return run


def main():
    rng = np.random.default_rng(0)
    features = rng.normal(size=(200, 4))
    truth = np.array([1.0, -0.5, 0.25, 0.0])
    labels = (rng.uniform(size=200) < 1 / (1 + np.exp(-features @ truth))).astype(np.float32)

    def log_density(w):
        logits = jnp.dot(features, w)
        return jnp.sum(labels * logits - jnp.logaddexp(0.0, logits)) - 0.5 * jnp.sum(w**2)

    run = make_sampler(log_density, 0.01)
    keys = jax.random.split(jax.random.PRNGKey(1), 4)
    accepted = []
    for c, key in enumerate(keys):
        init_key, run_key = jax.random.split(key)
        chain, accept = run(run_key, 0.1 * jax.random.normal(init_key, (4,)), 60)
        chain = np.asarray(chain)
        accepted.append(np.mean(accept))
        mean = chain[20:].mean(axis=0)
        print(f"chain {c}: mean {mean[0]:.3f} {mean[1]:.3f} accepted {np.mean(accepted):.3f}")


if __name__ == "__main__":
    main()
