# source: pyro-ppl/numpyro#441
# blind: sixteenth

"""Fit the same hierarchical-free model for every subject of a study with numpyro."""

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from numpyro.infer import MCMC, NUTS


def reaction_model(days, reaction=None):
    intercept = numpyro.sample("intercept", dist.Normal(250.0, 50.0))
    slope = numpyro.sample("slope", dist.Normal(10.0, 10.0))
    sigma = numpyro.sample("sigma", dist.HalfNormal(30.0))
    mean = intercept + slope * days
    with numpyro.plate("obs", days.shape[0]):
        numpyro.sample("reaction", dist.Normal(mean, sigma), obs=reaction)


def fit(key, days, reaction):
    kernel = NUTS(reaction_model)  # finding-also
    mcmc = MCMC(kernel, num_warmup=200, num_samples=200, progress_bar=False)  # finding
    mcmc.run(key, days, reaction=reaction)  # finding-also
    samples = mcmc.get_samples()
    return {name: values.mean() for name, values in samples.items()}


def load_study(n_subjects, n_days=10, seed=0):
    rng = np.random.default_rng(seed)
    days = np.arange(n_days, dtype=np.float32)
    for _ in range(n_subjects):
        slope = rng.normal(10, 5)
        intercept = rng.normal(250, 30)
        yield days, (intercept + slope * days + rng.normal(0, 20, n_days)).astype(np.float32)


def summarise(results):
    table = {}
    for name in results[0]:
        table[name] = np.array([r[name] for r in results])
    return table


def main(n_subjects=4):
    key = jax.random.PRNGKey(0)
    results = []
    for days, reaction in load_study(n_subjects):
        key, sub = jax.random.split(key)
        results.append(fit(sub, jnp.asarray(days), jnp.asarray(reaction)))  # finding-also
    table = summarise(results)
    for name, values in table.items():
        print(f"{name}: {values.mean():.2f} +- {values.std():.2f}")


if __name__ == "__main__":
    main()
