# blind: ninth

import jax
import jax.numpy as jnp
import numpyro
import numpyro.distributions as dist


def regression(x, y=None):
    features = x.shape[1]
    w = numpyro.sample("w", dist.Normal(jnp.zeros((features, 1)), 1.0).to_event(2))
    sigma = numpyro.sample("sigma", dist.HalfNormal(1.0))
    mean = (x @ w)[:, 0]
    groups = numpyro.sample("groups", dist.Normal(jnp.zeros((5, 1)), 1.0).to_event(2))
    with numpyro.plate("rows", x.shape[0]):
        numpyro.sample("y", dist.Normal(mean, sigma + 0.0 * groups.sum()), obs=y)


if __name__ == "__main__":
    x = jax.random.normal(jax.random.key(0), (40, 3))
    from numpyro.infer import MCMC, NUTS

    mcmc = MCMC(NUTS(regression), num_warmup=20, num_samples=20, progress_bar=False)
    mcmc.run(jax.random.key(1), x, x[:, 0])
    print(mcmc.get_samples()["w"].mean(0))
