# source: state-space-models/cuthbert#127
# blind: sixth

"""A scan that writes its history through io_callback."""
import jax
import jax.numpy as jnp
from jax.experimental import io_callback

HISTORY = []


def record(ess):
    HISTORY.append(float(ess))


def step(logw, obs):
    logw = jax.nn.log_softmax(logw - 0.5 * (obs - jnp.arange(logw.shape[0])) ** 2)
    ess = 1.0 / jnp.sum(jnp.exp(2.0 * logw))
    io_callback(record, None, ess, ordered=True)
    jax.debug.print("ess {e:.2f}", e=ess)
    return logw, ess


@jax.jit
def run(observations):
    return jax.lax.scan(step, jnp.zeros(8), observations)


if __name__ == "__main__":
    run(jnp.linspace(0.0, 5.0, 10))
    jax.effects_barrier()
    print(HISTORY)
