# blind: twenty-first
# missed: how large the times are that a file of the host holds

import jax
import jax.numpy as jnp
import numpy as np
import optax


def load_log(n=400, seed=0):
    rng = np.random.default_rng(seed)
    gaps = rng.gamma(shape=2.0, scale=5.0, size=n)
    return {
        "timestamp": 1.7e9 + np.cumsum(gaps),
        "user": rng.integers(0, 20, size=n),
    }


def interarrival(log):
    times = jnp.asarray(log["timestamp"])  # finding
    return jnp.diff(times)  # finding-also


def gamma_nll(params, gaps):
    shape = jnp.exp(params["log_shape"])
    rate = jnp.exp(params["log_rate"])
    gaps = jnp.maximum(gaps, 1e-3)
    logp = (shape * jnp.log(rate) - jax.scipy.special.gammaln(shape)
            + (shape - 1.0) * jnp.log(gaps) - rate * gaps)
    return -jnp.mean(logp)


def fit(gaps, steps=600, lr=0.03):
    tx = optax.adam(lr)
    params = {"log_shape": jnp.zeros(()), "log_rate": jnp.zeros(())}
    opt_state = tx.init(params)

    @jax.jit
    def step(params, opt_state):
        value, grads = jax.value_and_grad(gamma_nll)(params, gaps)
        updates, opt_state = tx.update(grads, opt_state)
        return optax.apply_updates(params, updates), opt_state, value

    for _ in range(steps):
        params, opt_state, value = step(params, opt_state)
    return params, float(value)


def main():
    log = load_log()
    gaps = interarrival(log)
    params, nll = fit(gaps)
    print("mean gap", float(gaps.mean()), "median gap", float(jnp.median(gaps)))
    print("shape", float(jnp.exp(params["log_shape"])), "nll", nll)


if __name__ == "__main__":
    main()
