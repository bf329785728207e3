# source: jax-ml/jax#177
# blind: eighteenth

import jax
import jax.numpy as jnp


def log_prob(x):
    return -0.5 * jnp.sum(x**2) - jnp.log1p(jnp.exp(-4.0 * x[0]))


def mh_step(key, x, scale):
    k_prop, k_acc = jax.random.split(key)
    prop = x + scale * jax.random.normal(k_prop, x.shape)
    log_alpha = log_prob(prop) - log_prob(x)
    accept = jnp.log(jax.random.uniform(k_acc)) < log_alpha
    return jnp.where(accept, prop, x)


def run_chain(key, x0, n_steps, scale=0.6):
    def body(x, k):
        x = mh_step(k, x, scale)
        return x, x

    return jax.lax.scan(body, x0, jax.random.split(key, n_steps))[1]


def run_chains(key, x0s, n_steps):
    chain = lambda k, x0: run_chain(k, x0, n_steps)
    return jax.vmap(chain, in_axes=(None, 0))(key, x0s)  # finding


def r_hat(draws):
    within = draws.var(axis=1, ddof=1).mean(axis=0)
    between = draws.mean(axis=1).var(axis=0, ddof=1)
    return jnp.sqrt((within + between) / within)


if __name__ == "__main__":
    starts = jnp.zeros((4, 2))
    samples = run_chains(jax.random.key(3), starts, 50)
    print(samples[:, -1], r_hat(samples))
