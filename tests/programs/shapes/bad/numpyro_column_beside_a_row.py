# blind: seventeenth

"""Bayesian neural network regression."""
import jax
import jax.numpy as jnp
import numpyro
import numpyro.distributions as dist
from numpyro.infer import SVI, Trace_ELBO
from numpyro.infer.autoguide import AutoNormal


def bnn(x, y=None, hidden=8):
    din = x.shape[1]
    w1 = numpyro.sample("w1", dist.Normal(jnp.zeros((din, hidden)), 1.0).to_event(2))
    w2 = numpyro.sample("w2", dist.Normal(jnp.zeros((hidden, 1)), 1.0).to_event(2))
    mean = jnp.tanh(x @ w1) @ w2
    sigma = numpyro.sample("sigma", dist.HalfNormal(1.0))
    numpyro.sample("y", dist.Normal(mean, sigma), obs=y)  # finding


def make_data(key, n=80):
    kx, ke = jax.random.split(key)
    x = jax.random.uniform(kx, (n, 2), minval=-2, maxval=2)
    y = jnp.sin(x[:, 0]) + 0.1 * jax.random.normal(ke, (n,))
    return x, y


def main():
    x, y = make_data(jax.random.key(0))
    guide = AutoNormal(bnn)
    svi = SVI(bnn, guide, numpyro.optim.Adam(1e-2), Trace_ELBO())
    result = svi.run(jax.random.key(1), 300, x, y, progress_bar=False)  # finding-also
    print("elbo", result.losses[-1])


if __name__ == "__main__":
    main()
