# blind: eleventh

"""Numpyro: the key of MCMC is used again for the predictive draws."""
import jax
import jax.numpy as jnp
import numpyro
import numpyro.distributions as dist
from numpyro.infer import MCMC, NUTS, Predictive


def model(x, y=None):
    slope = numpyro.sample("slope", dist.Normal(0.0, 1.0))
    bias = numpyro.sample("bias", dist.Normal(0.0, 1.0))
    noise = numpyro.sample("noise", dist.HalfNormal(1.0))
    with numpyro.plate("data", x.shape[0]):
        numpyro.sample("obs", dist.Normal(bias + slope * x, noise), obs=y)


def fit(key, x, y):
    mcmc = MCMC(NUTS(model), num_warmup=50, num_samples=50, progress_bar=False)
    mcmc.run(key, x, y)
    return mcmc.get_samples()


def posterior_predictive(key, samples, x):
    return Predictive(model, samples)(key, x)["obs"]


def analyse(seed, x, y):
    key = jax.random.PRNGKey(seed)
    prior_key, run_key = jax.random.split(key)
    prior = Predictive(model, num_samples=50)(prior_key, x)["obs"]
    samples = fit(run_key, x, y)
    draws = posterior_predictive(run_key, samples, x)  # finding
    return prior.mean(), draws.mean()


if __name__ == "__main__":
    x = jnp.linspace(-1, 1, 20)
    print(analyse(0, x, 2 * x))
