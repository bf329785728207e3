# source: pyro-ppl/numpyro#2005
# blind: second

import jax
import jax.numpy as jnp
import numpyro
import numpyro.distributions as dist
from jax import random
from numpyro.infer import MCMC, NUTS, Predictive
from numpyro.infer.initialization import init_to_median


def model(x, y=None, heteroscedastic=False):
    features = x.shape[-1]
    with numpyro.plate("features", features):
        weights = numpyro.sample("weights", dist.Normal(0.0, 1.0))
    bias = numpyro.sample("bias", dist.Normal(0.0, 1.0))
    mean = numpyro.deterministic("mean", x @ weights + bias)
    if heteroscedastic:
        slope = numpyro.sample("slope", dist.HalfNormal(1.0))
        sigma = 0.1 + slope * jnp.abs(x[:, 0])
    else:
        sigma = numpyro.sample("sigma", dist.HalfNormal(1.0))
    if y is not None:
        assert y.shape == mean.shape
    with numpyro.plate("data", x.shape[0]):
        numpyro.sample("y", dist.Normal(mean, sigma), obs=y)


def fit(key, x, y):
    mcmc = MCMC(NUTS(model, init_strategy=init_to_median), num_warmup=20, num_samples=20, progress_bar=False)
    mcmc.run(key, x, y, heteroscedastic=True)
    return mcmc.get_samples()


def main():
    data_key, fit_key, predict_key = random.split(random.key(0), 3)
    x = random.normal(data_key, (30, 3))
    samples = fit(fit_key, x, x.sum(-1))
    predictive = Predictive(model, posterior_samples=samples)
    out = predictive(predict_key, x, heteroscedastic=True)
    print(jax.tree.map(jnp.shape, out))


if __name__ == "__main__":
    main()
