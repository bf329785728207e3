# source: ott-jax/ott#114

import jax
import jax.numpy as jnp


def count_segments(ids):
    return jnp.max(ids) + 1


def segment_softmax(logits, ids):
    num = count_segments(ids)
    top = jax.ops.segment_max(logits, ids, num_segments=num)  # finding
    weights = jnp.exp(logits - top[ids])
    return weights / jax.ops.segment_sum(weights, ids, num_segments=num)[ids]  # finding-also


@jax.jit
def graph_attention(params, nodes, senders, receivers):
    h = nodes @ params["w"]
    logits = jax.nn.leaky_relu((h[senders] * params["a"] + h[receivers] * params["b"]).sum(-1))
    alpha = segment_softmax(logits, receivers)
    return jax.ops.segment_sum(alpha[:, None] * h[senders], receivers, nodes.shape[0])


if __name__ == "__main__":
    params = {"w": jnp.ones((3, 4)), "a": jnp.ones(4), "b": jnp.ones(4)}
    print(graph_attention(params, jnp.ones((5, 3)), jnp.array([0, 1, 2]), jnp.array([1, 2, 0])))
