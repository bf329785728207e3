# source: sail-sg/jax_xc#28

import jax
import jax.numpy as jnp
from jax.scipy.special import entr, xlogy


def safe_sqrt(x):
    positive = x > 0
    return jnp.where(positive, jnp.sqrt(jnp.where(positive, x, 1.0)), 0.0)


def unit(v, eps=1e-12):
    return v / jnp.sqrt(jnp.sum(v * v) + eps)


def distance(a, b):
    return jnp.linalg.norm(a - b + 1e-8)


def objective(theta, p, target):
    spread = safe_sqrt(jnp.sum(theta**2))
    return spread + entr(p).sum() + xlogy(p, p).sum() + distance(unit(theta), target)


print(jax.grad(objective)(jnp.zeros(3), jnp.array([0.5, 0.5, 0.0]), jnp.ones(3)))
