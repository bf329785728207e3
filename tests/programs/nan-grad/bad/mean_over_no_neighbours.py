# source: jax-ml/jax#1052
# blind: seventh

"""Message passing where isolated nodes have no neighbours."""

import jax
import jax.numpy as jnp


def neighbour_mean(h, adjacency):
    total = adjacency @ h
    degree = adjacency.sum(axis=1, keepdims=True)
    return jnp.where(degree > 0, total / degree, 0.0)  # finding


def soft_adjacency(params, x, edges):
    return jnp.exp(x @ params["edge"] @ x.T) * edges


def loss(params, x, edges, y):
    h = neighbour_mean(x, soft_adjacency(params, x, edges))
    return jnp.mean((h @ params["out"] - y) ** 2)


@jax.jit
def update(params, x, edges, y):
    grads = jax.grad(loss)(params, x, edges, y)  # finding-also
    return jax.tree.map(lambda p, g: p - 0.01 * g, params, grads)


if __name__ == "__main__":
    x = jax.random.normal(jax.random.key(0), (5, 4))
    edges = jnp.zeros((5, 5)).at[:3, :3].set(1.0)
    params = {"edge": 0.1 * jnp.eye(4), "out": jnp.ones(4)}
    params = update(params, x, edges, jnp.ones(5))
    print(params)
