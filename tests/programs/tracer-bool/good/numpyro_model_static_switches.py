# source: pyro-ppl/numpyro#853
# blind: eighteenth

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from numpyro.infer import MCMC, NUTS


def model(x, y=None, robust=False):
    n_features = x.shape[1]
    if n_features > 50:
        tau = numpyro.sample("tau", dist.HalfCauchy(1.0))
    else:
        tau = 1.0
    with numpyro.plate("features", n_features):
        w = numpyro.sample("w", dist.Normal(0.0, tau))
    sigma = numpyro.sample("sigma", dist.HalfNormal(1.0))
    mean = x @ w
    noise = dist.StudentT(4.0, mean, sigma) if robust else dist.Normal(mean, sigma)
    with numpyro.plate("data", x.shape[0]):
        numpyro.sample("obs", noise, obs=y)


def run(x, y, seed, robust):
    kernel = NUTS(model)
    mcmc = MCMC(kernel, num_warmup=20, num_samples=20, progress_bar=False)
    mcmc.run(jax.random.key(seed), jnp.asarray(x), jnp.asarray(y), robust=robust)
    return mcmc.get_samples()["w"].mean(axis=0)


def main():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(30, 2)).astype(np.float32)
    y = x @ np.array([1.0, -1.0], np.float32) + 0.1 * rng.normal(size=30).astype(np.float32)
    print(run(x, y, 0, robust=False))


if __name__ == "__main__":
    main()
