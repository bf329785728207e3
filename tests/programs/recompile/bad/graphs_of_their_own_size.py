# source: jax-ml/jax#15761
# blind: eighth

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def message_pass(nodes, senders, receivers):
    messages = jnp.tanh(nodes[senders])
    return jax.ops.segment_sum(messages, receivers, nodes.shape[0])


def neighbours(positions, cutoff):
    d = np.linalg.norm(positions[:, None] - positions[None], axis=-1)
    return np.nonzero((d < cutoff) & (d > 0))


def simulate(positions, nodes, steps):
    for _ in range(steps):
        senders, receivers = neighbours(positions, 0.3)
        nodes = message_pass(nodes, senders, receivers)  # finding
        positions = positions + 0.01 * np.asarray(nodes[:, :3])
    return nodes


if __name__ == "__main__":
    rng = np.random.default_rng(0)
    print(simulate(rng.random((20, 3)), jnp.ones((20, 4)), 3).shape)
