# source: SharmaLlama/ticktack#19
# blind: eighteenth

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from numpyro.infer import SVI, Trace_ELBO
from numpyro.infer.autoguide import AutoNormal
from scipy.special import gammaln


def neg_binomial_logpmf(k, mean, disp):
    p = disp / (disp + mean)
    log_coef = gammaln(k + disp) - gammaln(disp) - gammaln(k + 1)  # finding
    return log_coef + disp * jnp.log(p) + k * jnp.log1p(-p)


def model(counts, exposure, group, n_groups):
    base = numpyro.sample("base", dist.Normal(0.0, 2.0))
    disp = numpyro.sample("disp", dist.HalfNormal(5.0))
    with numpyro.plate("groups", n_groups):
        offset = numpyro.sample("offset", dist.Normal(0.0, 0.5))
    mean = jnp.exp(base + offset[group]) * exposure
    numpyro.factor("likelihood", neg_binomial_logpmf(counts, mean, disp).sum())


def fit(counts, exposure, group, n_steps=10):
    guide = AutoNormal(model)
    svi = SVI(model, guide, numpyro.optim.Adam(1e-2), Trace_ELBO())
    n_groups = int(group.max()) + 1
    result = svi.run(
        jax.random.key(0), n_steps, counts, exposure, group, n_groups, progress_bar=False
    )
    return guide.median(result.params), result.losses[-1]


def main():
    counts = np.array([3, 1, 0, 7, 4, 2], dtype=np.float32)
    group = np.array([0, 0, 1, 1, 2, 2])
    print(fit(counts, np.ones(6, dtype=np.float32), group))


if __name__ == "__main__":
    main()
