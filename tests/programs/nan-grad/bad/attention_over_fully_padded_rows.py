# source: jax-ml/jax#2630
# blind: sixth
# missed: whether a set is padded as a whole is in the data; of a causal mask no row is

"""Pooling over a padded set."""
import equinox as eqx
import jax
import jax.numpy as jnp


class Pool(eqx.Module):
    query: jax.Array
    key: eqx.nn.Linear

    def __init__(self, dim, *, key):
        k1, k2 = jax.random.split(key)
        self.query = jax.random.normal(k1, (dim,))
        self.key = eqx.nn.Linear(dim, dim, key=k2)

    def __call__(self, items, valid):
        scores = jax.vmap(self.key)(items) @ self.query
        bias = jnp.where(valid, 0.0, -jnp.inf)  # finding-also
        weights = jax.nn.softmax(scores + bias)  # finding
        weights = jnp.where(valid, weights, 0.0)
        return weights @ items


@eqx.filter_jit
@eqx.filter_grad
def grad_step(pool, items, valid, target):
    pooled = jax.vmap(pool)(items, valid)
    pooled = jnp.where(valid.any(-1, keepdims=True), pooled, 0.0)
    return jnp.mean((pooled - target) ** 2)


if __name__ == "__main__":
    pool = Pool(4, key=jax.random.key(0))
    items = jnp.ones((2, 3, 4))
    valid = jnp.array([[True, True, False], [False, False, False]])
    print(grad_step(pool, items, valid, jnp.zeros((2, 4))).query)
