# source: jax-ml/jax#9288
# blind: nineteenth

import time

import jax
import jax.numpy as jnp


def init_factors(key, rows, cols, rank):
    k_u, k_v = jax.random.split(key)
    return {
        "u": 0.3 * jax.random.normal(k_u, (rows, rank)),
        "v": 0.3 * jax.random.normal(k_v, (cols, rank)),
        "row_bias": jnp.zeros(rows),
        "col_bias": jnp.zeros(cols),
    }


def predict(factors):
    return factors["u"] @ factors["v"].T + factors["row_bias"][:, None] + factors["col_bias"][None, :]


def masked_error(factors, ratings, mask, penalty):
    err = jnp.where(mask, predict(factors) - ratings, 0.0)
    ridge = jnp.sum(factors["u"] ** 2) + jnp.sum(factors["v"] ** 2)
    return jnp.sum(err ** 2) / mask.sum() + penalty * ridge / mask.sum()


def fit(key, ratings, mask, rank, penalty, steps):
    factors = init_factors(key, *ratings.shape, rank)
    for _ in range(steps):
        grads = jax.jit(jax.grad(lambda f: masked_error(f, ratings, mask, penalty)))(factors)  # finding
        factors = jax.tree.map(lambda p, g: p - 4.0 * g, factors, grads)
    return factors


def holdout_rmse(factors, ratings, mask):
    err = jnp.where(mask, predict(factors) - ratings, 0.0)
    return jnp.sqrt(jnp.sum(err ** 2) / mask.sum())


def main():
    k_data, k_mask, k_fit = jax.random.split(jax.random.key(0), 3)
    truth = init_factors(k_data, 60, 40, 3)
    ratings = 4.0 * predict(truth)
    observed = jax.random.bernoulli(k_mask, 0.6, ratings.shape)
    start = time.perf_counter()
    for rank in (2,):
        factors = fit(k_fit, ratings, observed, rank, 0.05, 10)
        print("rank", rank, "holdout rmse", float(holdout_rmse(factors, ratings, ~observed)))
    print("seconds", round(time.perf_counter() - start, 2))


if __name__ == "__main__":
    main()
