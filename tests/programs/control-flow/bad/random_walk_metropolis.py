# source: jax-ml/jax#15178
# blind: twenty-first

import jax
import jax.numpy as jnp
import numpy as np


def make_data(n=200, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 3))
    w = np.array([0.5, -1.0, 2.0])
    y = rng.uniform(size=n) < 1.0 / (1.0 + np.exp(-x @ w))
    return jnp.asarray(x, jnp.float32), jnp.asarray(y, jnp.float32)


def log_density(w, data):
    x, y = data
    logits = x @ w
    loglik = jnp.sum(y * logits - jax.nn.softplus(logits))
    return loglik - 0.5 * jnp.sum(w ** 2) / 9.0


def init_state(position, data):
    state = {"position": position, "log_prob": log_density(position, data)}  # finding-also
    return state


def kernel(key, state, data, scale):
    k_prop, k_acc = jax.random.split(key)
    noise = jax.random.normal(k_prop, state["position"].shape)
    proposal = state["position"] + scale * noise
    log_prob = log_density(proposal, data)
    accept = jnp.log(jax.random.uniform(k_acc)) < log_prob - state["log_prob"]
    return {
        "position": jnp.where(accept, proposal, state["position"]),
        "log_prob": jnp.where(accept, log_prob, state["log_prob"]),
        "accepted": accept,  # finding-also
    }


def run_chain(key, position, data, num_samples, scale=0.25):
    def body(state, key_t):
        state = kernel(key_t, state, data, scale)
        return state, state["position"]

    keys = jax.random.split(key, num_samples)
    return jax.lax.scan(body, init_state(position, data), keys)  # finding


def main():
    data = make_data()
    final, samples = run_chain(jax.random.key(0), jnp.zeros(3), data, 2000)
    print("posterior mean", samples[500:].mean(axis=0))
    print("last log prob", float(final["log_prob"]))


if __name__ == "__main__":
    main()
