# source: jax-ml/jax#1832
# blind: sixth

"""Percentile clipping of gradients."""
import jax
import jax.numpy as jnp
import numpy as np


def clip_by_percentile(tree, q):
    leaves, treedef = jax.tree.flatten(tree)
    flat = jnp.concatenate([jnp.abs(leaf).ravel() for leaf in leaves])
    bound = np.percentile(flat, q)  # finding
    return jax.tree.unflatten(treedef, [jnp.clip(leaf, -bound, bound) for leaf in leaves])


@jax.jit
def train_step(params, x, y):
    def loss(p):
        return jnp.mean((jnp.tanh(x @ p["w1"]) @ p["w2"] - y) ** 2)

    grads = clip_by_percentile(jax.grad(loss)(params), 95.0)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)


if __name__ == "__main__":
    params = {"w1": jnp.ones((3, 4)), "w2": jnp.ones(4)}
    print(train_step(params, jnp.ones((5, 3)), jnp.zeros(5)))
