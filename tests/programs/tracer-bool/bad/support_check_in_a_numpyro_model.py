# source: pyro-ppl/numpyro#1085
# blind: sixth

"""Hierarchical counts; the rate must stay positive."""
import jax
import jax.numpy as jnp
import numpyro
import numpyro.distributions as dist
from numpyro.infer import MCMC, NUTS


def link(intercept, slope, x):
    rate = intercept + slope * x
    if jnp.any(rate <= 0):  # finding
        return jnp.full_like(rate, 1e-3)
    return rate


def model(x, y=None):
    intercept = numpyro.sample("intercept", dist.Normal(2.0, 1.0))
    slope = numpyro.sample("slope", dist.Normal(0.0, 1.0))
    rate = link(intercept, slope, x)
    with numpyro.plate("data", x.shape[0]):
        numpyro.sample("y", dist.Poisson(rate), obs=y)


def main():
    x = jnp.linspace(0.0, 1.0, 20)
    mcmc = MCMC(NUTS(model), num_warmup=20, num_samples=20, progress_bar=False)
    mcmc.run(jax.random.key(0), x, jnp.ones(20, jnp.int32))
    mcmc.print_summary()


if __name__ == "__main__":
    main()
