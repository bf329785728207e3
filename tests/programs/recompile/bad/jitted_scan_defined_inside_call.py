# source: jax-ml/jax#2251
# blind: eighteenth

import functools

import jax
import jax.numpy as jnp
import numpy as np


def infect(state, beta_gamma):
    s, i, r = state
    beta, gamma = beta_gamma
    new_inf = beta * s * i
    new_rec = gamma * i
    state = (s - new_inf, i + new_inf - new_rec, r + new_rec)
    return state, i


def epidemic_curve(beta, gamma, days=60):
    @functools.partial(jax.jit, static_argnames="n")  # finding
    def _run(beta, gamma, n):  # finding-also
        rates = (jnp.full(n, beta), jnp.full(n, gamma))
        init = (jnp.asarray(0.99), jnp.asarray(0.01), jnp.asarray(0.0))
        return jax.lax.scan(infect, init, rates)[1]

    return _run(beta, gamma, days)  # finding-also


def peak_day(beta, gamma):
    return jnp.argmax(epidemic_curve(beta, gamma))


def sweep(betas, gamma):
    peaks = []
    for beta in betas:
        peaks.append(peak_day(beta, gamma))  # finding-also
    return jnp.stack(peaks)


if __name__ == "__main__":
    print(sweep(np.linspace(0.2, 0.6, 4, dtype=np.float32), np.float32(0.1)))
