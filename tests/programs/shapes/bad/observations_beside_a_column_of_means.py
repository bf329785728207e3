# source: pyro-ppl/numpyro#1230
# blind: ninth

import jax
import jax.numpy as jnp
import numpyro
import numpyro.distributions as dist
from numpyro.infer import MCMC, NUTS


def regression(x, y=None):
    features = x.shape[1]
    w = numpyro.sample("w", dist.Normal(jnp.zeros((features, 1)), 1.0).to_event(2))
    sigma = numpyro.sample("sigma", dist.HalfNormal(1.0))
    mean = x @ w
    with numpyro.plate("rows", x.shape[0]):
        numpyro.sample("y", dist.Normal(mean, sigma), obs=y)  # finding


def main():
    x = jax.random.normal(jax.random.key(0), (40, 3))
    y = x @ jnp.array([1.0, -2.0, 0.5])
    mcmc = MCMC(NUTS(regression), num_warmup=20, num_samples=20, progress_bar=False)
    mcmc.run(jax.random.key(1), x, y)
    return mcmc.get_samples()["w"].mean(0)


if __name__ == "__main__":
    print(main())
