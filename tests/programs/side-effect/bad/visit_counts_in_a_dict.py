# source: jax-ml/jax#4714
# blind: ninth

import collections

import jax
import jax.numpy as jnp

STATISTICS = collections.defaultdict(list)


def track(name, value):
    STATISTICS[name].append(value)  # finding
    return value


def block(params, x):
    hidden = track("hidden", jnp.tanh(x @ params["in"]))
    return track("out", hidden @ params["out"])


@jax.jit
def forward(params, x):
    return block(params, x).sum()


def main():
    params = {"in": jnp.ones((4, 8)), "out": jnp.ones((8, 2))}
    total = sum(forward(params, jnp.ones((2, 4)) * i) for i in range(3))
    return total, sum(h.mean() for h in STATISTICS["hidden"])


if __name__ == "__main__":
    print(main())
