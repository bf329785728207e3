# source: pyro-ppl/numpyro#771

import jax
import jax.numpy as jnp
import numpyro
import numpyro.distributions as dist
from numpyro.infer import SVI, Predictive, Trace_ELBO
from numpyro.infer.autoguide import AutoNormal


def model(x, y=None, hierarchical=True):
    scale = numpyro.sample("scale", dist.HalfNormal(1.0)) if hierarchical else 1.0
    w = numpyro.sample("w", dist.Normal(0, scale).expand([x.shape[1]]).to_event(1))
    mean = x @ w
    if y is not None and y.shape != mean.shape:
        raise ValueError("x and y disagree")
    numpyro.sample("y", dist.Normal(mean, 0.5), obs=y)


def main():
    x = jnp.ones((10, 2))
    guide = AutoNormal(model)
    svi = SVI(model, guide, numpyro.optim.Adam(0.05), Trace_ELBO())
    result = svi.run(jax.random.PRNGKey(0), 10, x, jnp.ones(10), progress_bar=False)
    draws = Predictive(model, guide=guide, params=result.params, num_samples=3)(jax.random.PRNGKey(1), x)
    print(draws["y"].shape)


main()
