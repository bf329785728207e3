# source: pyro-ppl/numpyro#853
# blind: third

import jax
import jax.numpy as jnp
import numpyro
import numpyro.distributions as dist
from numpyro.infer import MCMC, NUTS


def varying_intercepts(name, groups, loc, scale):
    n = jnp.unique(groups).size  # finding
    with numpyro.plate(f"{name}_plate", n):
        return numpyro.sample(name, dist.Normal(loc, scale))


def model(tank, density, survived=None):
    a_bar = numpyro.sample("a_bar", dist.Normal(0.0, 1.5))
    sigma = numpyro.sample("sigma", dist.Exponential(1.0))
    a = varying_intercepts("a", tank, a_bar, sigma)
    numpyro.sample("surv", dist.Binomial(density, logits=a[tank]), obs=survived)


def fit(key, tank, density, survived):
    mcmc = MCMC(NUTS(model), num_warmup=20, num_samples=20, progress_bar=False)
    mcmc.run(key, tank, density, survived)
    return mcmc.get_samples()


if __name__ == "__main__":
    tank = jnp.array([0, 1, 2, 0, 1, 2])
    print(fit(jax.random.key(0), tank, jnp.full(6, 10), jnp.array([5, 7, 9, 6, 8, 9])))
