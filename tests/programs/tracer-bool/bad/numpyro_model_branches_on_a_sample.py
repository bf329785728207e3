# blind: seventeenth

"""Robust regression: heavy tails if the scale is large."""
import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from numpyro.infer import MCMC, NUTS


def model(x, y=None):
    slope = numpyro.sample("slope", dist.Normal(0.0, 2.0))
    offset = numpyro.sample("offset", dist.Normal(0.0, 2.0))
    scale = numpyro.sample("scale", dist.HalfNormal(1.0))
    mean = offset + slope * x
    if scale > 0.5:  # finding
        noise = dist.StudentT(4.0, mean, scale)
    else:
        noise = dist.Normal(mean, scale)
    with numpyro.plate("data", x.shape[0]):
        numpyro.sample("y", noise, obs=y)


def fit(x, y, seed=0):
    kernel = NUTS(model)
    mcmc = MCMC(kernel, num_warmup=100, num_samples=100, progress_bar=False)
    mcmc.run(jax.random.key(seed), x, y)
    return mcmc.get_samples()


def main():
    rng = np.random.default_rng(3)
    x = rng.uniform(-2, 2, size=60).astype(np.float32)
    y = 0.5 + 1.5 * x + 0.3 * rng.standard_t(3, size=60).astype(np.float32)
    samples = fit(jnp.asarray(x), jnp.asarray(y))
    print({k: float(v.mean()) for k, v in samples.items()})


if __name__ == "__main__":
    main()
