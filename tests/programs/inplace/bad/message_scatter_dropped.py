# source: jax-ml/jax#2206
# blind: first

import jax
import jax.numpy as jnp


def scatter_messages(edges, receivers, n_nodes):
    out = jnp.zeros((n_nodes, edges.shape[-1]))
    out.at[receivers].add(edges)  # finding
    return out


@jax.jit
def layer(nodes, edges, senders, receivers):
    messages = edges * nodes[senders]
    return nodes + scatter_messages(messages, receivers, nodes.shape[0])


if __name__ == "__main__":
    print(layer(jnp.ones((3, 2)), jnp.ones((2, 2)), jnp.array([0, 1]), jnp.array([1, 2])))
