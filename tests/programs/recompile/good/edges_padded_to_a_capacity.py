# source: jax-ml/jax#15761
# blind: eighth

import jax
import jax.numpy as jnp
import numpy as np

CAPACITY = 128


@jax.jit
def message_pass(nodes, senders, receivers, mask):
    messages = jnp.tanh(nodes[senders]) * mask[:, None]
    return jax.ops.segment_sum(messages, receivers, nodes.shape[0])


def neighbours(positions, cutoff):
    d = np.linalg.norm(positions[:, None] - positions[None], axis=-1)
    senders, receivers = np.nonzero((d < cutoff) & (d > 0))
    edges = np.zeros((2, CAPACITY), np.int32)
    count = min(len(senders), CAPACITY)
    edges[:, :count] = senders[:count], receivers[:count]
    return edges, (np.arange(CAPACITY) < count).astype(np.float32)


def total(frames, nodes):
    sums = []
    for positions in frames:
        (senders, receivers), mask = neighbours(positions, 0.3)
        sums.append(message_pass(nodes, senders, receivers, mask))
    return sums


if __name__ == "__main__":
    rng = np.random.default_rng(0)
    print(len(total(rng.random((3, 20, 3)), jnp.ones((20, 4)))))
