# source: jax-ml/jax#7545

import jax
import jax.numpy as jnp
import scipy.special


def negative_binomial_logpmf(k, mean, dispersion):
    r = 1.0 / dispersion
    coefficient = scipy.special.gammaln(k + r) - scipy.special.gammaln(r)  # finding
    return coefficient + r * jnp.log(r / (r + mean)) + k * jnp.log(mean / (r + mean))


def nll(theta, design, counts):
    mean = jnp.exp(design @ theta["beta"])
    return -negative_binomial_logpmf(counts, mean, jax.nn.softplus(theta["phi"])).mean()


def fit(design, counts, steps=5, lr=0.05):
    theta = {"beta": jnp.zeros(design.shape[1]), "phi": jnp.array(0.5)}
    grad = jax.grad(nll)
    for _ in range(steps):
        theta = jax.tree.map(lambda p, g: p - lr * g, theta, grad(theta, design, counts))
    return theta


print(fit(jnp.ones((6, 2)), jnp.arange(6.0)))
