# blind: seventeenth

"""Robust regression: the weight of outliers depends on the scale."""
import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from numpyro.infer import MCMC, NUTS


def model(x, y=None, robust=True):
    slope = numpyro.sample("slope", dist.Normal(0.0, 2.0))
    offset = numpyro.sample("offset", dist.Normal(0.0, 2.0))
    scale = numpyro.sample("scale", dist.HalfNormal(1.0))
    df = jnp.where(scale > 0.5, 3.0, 10.0)
    mean = offset + slope * x
    if robust:
        noise = dist.StudentT(df, mean, scale)
    else:
        noise = dist.Normal(mean, scale)
    with numpyro.plate("data", x.shape[0]):
        numpyro.sample("y", noise, obs=y)


def main():
    rng = np.random.default_rng(3)
    x = rng.uniform(-2, 2, size=60).astype(np.float32)
    y = 0.5 + 1.5 * x + 0.3 * rng.standard_t(3, size=60).astype(np.float32)
    mcmc = MCMC(NUTS(model), num_warmup=100, num_samples=100, progress_bar=False)
    mcmc.run(jax.random.key(0), jnp.asarray(x), jnp.asarray(y))
    samples = mcmc.get_samples()
    print({k: float(v.mean()) for k, v in samples.items()})


if __name__ == "__main__":
    main()
