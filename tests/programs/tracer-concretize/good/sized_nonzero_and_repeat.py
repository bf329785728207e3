# source: jax-ml/jax#6501

import jax
import jax.numpy as jnp


def first_active(mask, limit):
    rows, = jnp.nonzero(mask, size=limit, fill_value=mask.shape[0] - 1)
    return rows


def segment_ids(n_node, total):
    return jnp.repeat(jnp.arange(n_node.shape[0]), n_node, total_repeat_length=total)


@jax.jit
def pool(nodes, n_node, mask):
    ids = segment_ids(n_node, nodes.shape[0])
    sums = jax.ops.segment_sum(nodes, ids, num_segments=len(n_node))
    unique = jnp.unique(ids, size=n_node.shape[0], fill_value=-1)
    return sums[unique], nodes[first_active(mask, 2)]


if __name__ == "__main__":
    out, active = pool(jnp.ones((7, 3)), jnp.array([3, 4]), jnp.arange(7) % 2 == 0)
    print(out.shape, active.shape)
