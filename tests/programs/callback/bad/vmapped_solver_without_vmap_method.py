# source: jax-ml/jax#23881
# blind: sixth

"""Quadrature by SciPy inside a JAX likelihood."""
import jax
import jax.numpy as jnp
import numpy as np
from scipy import integrate


def _integral(a):
    value, _ = integrate.quad(lambda t: np.exp(-a * t) / (1.0 + t), 0.0, 10.0)
    return np.float32(value)


def integral(a):
    return jax.pure_callback(_integral, jax.ShapeDtypeStruct((), jnp.float32), a)  # finding


def log_likelihood(rates, counts):
    mu = jax.vmap(integral)(rates)  # finding-also
    return jnp.sum(counts * jnp.log(mu) - mu)


@jax.jit
def score(rates, counts):
    return log_likelihood(rates, counts)


if __name__ == "__main__":
    print(score(jnp.array([0.5, 1.0, 2.0]), jnp.array([1.0, 2.0, 0.0])))
