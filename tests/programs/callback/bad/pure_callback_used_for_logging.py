# source: state-space-models/cuthbert#127
# blind: sixth

"""Particle filter that writes its effective sample size to a log."""
import jax
import jax.numpy as jnp
import numpy as np

HISTORY = []


def record(ess):
    HISTORY.append(float(ess))
    return np.zeros((), np.float32)


def filter_step(logw, obs):
    logw = logw - 0.5 * (obs - jnp.arange(logw.shape[0])) ** 2
    logw = logw - jax.nn.logsumexp(logw)
    ess = 1.0 / jnp.sum(jnp.exp(2.0 * logw))
    jax.pure_callback(record, jax.ShapeDtypeStruct((), jnp.float32), ess)  # finding
    return logw, ess


@jax.jit
def run(observations):
    init = jnp.zeros(16)
    return jax.lax.scan(filter_step, init, observations)


if __name__ == "__main__":
    run(jnp.linspace(0.0, 5.0, 10))
    print(HISTORY)
