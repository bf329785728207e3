# source: pyro-ppl/numpyro#1023
# blind: first

import jax
import jax.numpy as jnp
from scipy import special


def probit(z):
    return 0.5 * (1.0 + special.erf(z / 2**0.5))  # finding


def log_lik(beta, x, y):
    p = probit(x @ beta)
    return jnp.sum(y * jnp.log(p) + (1 - y) * jnp.log1p(-p))


score = jax.grad(log_lik)

if __name__ == "__main__":
    print(score(jnp.zeros(2), jnp.ones((3, 2)), jnp.array([0.0, 1.0, 1.0])))
