# blind: seventeenth

"""Message passing with a static config object."""
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp


class GNNConfig(NamedTuple):
    rounds: int = 3
    width: int = 16


def init_params(key, cfg, features):
    k_in, k_msg, k_out = jax.random.split(key, 3)
    return {
        "in": 0.1 * jax.random.normal(k_in, (features, cfg.width)),
        "msg": 0.1 * jax.random.normal(k_msg, (cfg.width, cfg.width)),
        "out": 0.1 * jax.random.normal(k_out, (cfg.width, 1)),
    }


@partial(jax.jit, static_argnames="cfg")
def forward(params, nodes, senders, receivers, cfg):
    h = jnp.tanh(nodes @ params["in"])
    for _ in range(cfg.rounds):
        msg = h[senders] @ params["msg"]
        agg = jax.ops.segment_sum(msg, receivers, num_segments=h.shape[0])
        h = jnp.tanh(h + agg)
    return (h @ params["out"]).sum()


def main():
    cfg = GNNConfig(rounds=4)
    params = init_params(jax.random.key(0), cfg, features=8)
    nodes = jax.random.normal(jax.random.key(1), (10, 8))
    senders = jnp.arange(10)
    receivers = (senders + 1) % 10
    print(forward(params, nodes, senders, receivers, cfg))


if __name__ == "__main__":
    main()
