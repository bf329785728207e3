# blind: twentieth

"""Least trimmed squares: fit a line while ignoring the worst residuals."""
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import optax

KEEP = 0.8


def make_data(n=400, outliers=60, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.uniform(-2.0, 2.0, size=n).astype(np.float32)
    y = (1.5 * x - 0.3 + 0.1 * rng.standard_normal(n)).astype(np.float32)
    y[:outliers] += 8.0
    return x, y


def predict(params, x):
    return params["slope"] * x + params["bias"]


def trimmed_mean(values, fraction):
    """Mean of the `fraction` smallest values."""
    cutoff = jnp.quantile(values, fraction)
    kept = values[values <= cutoff]  # finding
    return kept.mean()  # finding-also


def loss_fn(params, x, y):
    residual = predict(params, x) - y
    return trimmed_mean(residual**2, KEEP)  # finding-also


def build_step(tx):
    @partial(jax.jit, donate_argnums=(0, 1))
    def step(params, opt_state, x, y):
        loss, grads = jax.value_and_grad(loss_fn)(params, x, y)  # finding-also
        updates, opt_state = tx.update(grads, opt_state)
        return optax.apply_updates(params, updates), opt_state, loss

    return step


def fit(x, y, steps=200, lr=0.05):
    params = {"slope": jnp.zeros(()), "bias": jnp.zeros(())}
    print("trimmed loss before", float(loss_fn(params, x, y)))
    tx = optax.adam(lr)
    opt_state = tx.init(params)
    step = build_step(tx)
    for _ in range(steps):
        params, opt_state, loss = step(params, opt_state, x, y)
    return params, loss


def main():
    x, y = make_data()
    params, loss = fit(jnp.asarray(x), jnp.asarray(y))
    print("slope", float(params["slope"]), "bias", float(params["bias"]), "loss", float(loss))


if __name__ == "__main__":
    main()
