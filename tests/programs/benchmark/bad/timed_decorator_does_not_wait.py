# source: rail-berkeley/serl#30
# blind: ninth

import functools
import time

import jax
import jax.numpy as jnp

TIMES = {}


def timed(fn):
    @functools.wraps(fn)
    def wrapper(*args, **kwargs):
        start = time.perf_counter()
        out = fn(*args, **kwargs)
        TIMES.setdefault(fn.__name__, []).append(time.perf_counter() - start)  # finding
        return out

    return wrapper


@timed
@jax.jit
def sample_actions(params, obs):
    hidden = jax.nn.relu(obs @ params["w1"])
    return jnp.tanh(hidden @ params["w2"])


def main():
    params = {"w1": jnp.ones((64, 256)), "w2": jnp.ones((256, 8))}
    obs = jnp.ones((128, 64))
    sample_actions(params, obs).block_until_ready()
    TIMES.clear()
    for _ in range(100):
        actions = sample_actions(params, obs)
    times = TIMES["sample_actions"]
    print("mean ms", 1e3 * sum(times) / len(times), actions.shape)


if __name__ == "__main__":
    main()
