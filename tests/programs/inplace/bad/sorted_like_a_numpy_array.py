# blind: ninth

import jax
import jax.numpy as jnp


def conformal_quantile(scores, alpha):
    n = scores.shape[0]
    scores.sort()  # finding
    rank = min(int((n + 1) * (1 - alpha)), n - 1)
    return scores[rank]


def residuals(params, x, y):
    return jnp.abs(x @ params["w"] + params["b"] - y)


def intervals(params, calibration, x, alpha=0.1):
    width = conformal_quantile(residuals(params, *calibration), alpha)
    center = x @ params["w"] + params["b"]
    return center - width, center + width


if __name__ == "__main__":
    key = jax.random.key(0)
    x = jax.random.normal(key, (50, 3))
    params = {"w": jnp.ones(3), "b": jnp.zeros(())}
    print(intervals(params, (x, x.sum(1) + x[:, 0] ** 2), x[:2]))
