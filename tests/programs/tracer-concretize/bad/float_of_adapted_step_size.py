# source: blackjax-devs/blackjax#1029
# blind: eighteenth

from typing import NamedTuple

import jax
import jax.numpy as jnp


class AdaptState(NamedTuple):
    log_step: jax.Array
    log_step_avg: jax.Array
    count: jax.Array


def adapt_init(step_size):
    return AdaptState(jnp.log(step_size), jnp.asarray(0.0), jnp.asarray(0))


def adapt_update(state, accept_prob, target=0.8):
    count = state.count + 1
    eta = 1.0 / jnp.sqrt(count)
    log_step = state.log_step + eta * (accept_prob - target)
    avg = (1 - eta) * state.log_step_avg + eta * log_step
    return AdaptState(log_step, avg, count)


def length_floor(step_size, lam_max, max_steps):
    period = jnp.pi / (2.0 * jnp.sqrt(lam_max))
    return jnp.clip(period / step_size, 1.0, max_steps)


@jax.jit
def warmup(accept_probs, lam_max):
    def body(state, a):
        return adapt_update(state, a), state.log_step

    last, trace = jax.lax.scan(body, adapt_init(jnp.asarray(0.1)), accept_probs)
    step_size = jnp.exp(last.log_step_avg)
    n_leapfrog = length_floor(float(step_size), lam_max, 50)  # finding
    return step_size, n_leapfrog, trace


if __name__ == "__main__":
    probs = jnp.linspace(0.4, 0.95, 30)
    print(warmup(probs, jnp.asarray(4.0)))
