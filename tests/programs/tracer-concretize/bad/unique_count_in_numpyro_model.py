# source: pyro-ppl/numpyro#853
# blind: first

import jax
import jax.numpy as jnp
import numpyro
import numpyro.distributions as dist
from numpyro.infer import MCMC, NUTS


def model(group, x, y=None):
    n_groups = jnp.unique(group).shape[0]  # finding
    mu = numpyro.sample("mu", dist.Normal(0, 1))
    with numpyro.plate("groups", n_groups):
        offset = numpyro.sample("offset", dist.Normal(mu, 0.5))
    sigma = numpyro.sample("sigma", dist.HalfNormal(1.0))
    numpyro.sample("y", dist.Normal(offset[group] * x, sigma), obs=y)


def fit(key, group, x, y):
    mcmc = MCMC(NUTS(model), num_warmup=100, num_samples=100)
    mcmc.run(key, group, x, y)
    return mcmc.get_samples()


if __name__ == "__main__":
    fit(jax.random.key(0), jnp.array([0, 0, 1]), jnp.ones(3), jnp.ones(3))
