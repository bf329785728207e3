# blind: seventeenth

"""Message passing on a small graph with a config object."""
from typing import NamedTuple

import jax
import jax.numpy as jnp


class GNNConfig(NamedTuple):
    rounds: int = 3
    width: int = 16
    dropout: float = 0.0


def init_params(key, cfg, features):
    k_in, k_msg, k_out = jax.random.split(key, 3)
    scale = 0.1
    return {
        "in": scale * jax.random.normal(k_in, (features, cfg.width)),
        "msg": scale * jax.random.normal(k_msg, (cfg.width, cfg.width)),
        "out": scale * jax.random.normal(k_out, (cfg.width, 1)),
    }


@jax.jit
def forward(params, cfg, nodes, senders, receivers):  # finding-also
    h = jnp.tanh(nodes @ params["in"])
    for _ in range(cfg.rounds):  # finding
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
    print(forward(params, cfg, nodes, senders, receivers))  # finding-also


if __name__ == "__main__":
    main()
