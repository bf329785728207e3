# blind: eleventh
import jax
import jax.numpy as jnp
import numpyro
import numpyro.distributions as dist
from numpyro.infer import MCMC, NUTS, Predictive


def model(x, y=None):
    slope = numpyro.sample("slope", dist.Normal(0.0, 1.0))
    with numpyro.plate("data", x.shape[0]):
        numpyro.sample("obs", dist.Normal(slope * x, 0.1), obs=y)


def analyse(key, x, y):
    fit_key, draw_key = jax.random.split(key)
    mcmc = MCMC(NUTS(model), num_warmup=20, num_samples=20, progress_bar=False)
    mcmc.run(fit_key, x, y)
    return Predictive(model, mcmc.get_samples())(draw_key, x)["obs"].mean(0)


if __name__ == "__main__":
    x = jnp.linspace(-1, 1, 10)
    print(analyse(jax.random.key(0), x, 2 * x))
