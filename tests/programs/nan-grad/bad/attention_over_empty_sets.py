# source: jax-ml/jax#2630
# blind: seventh
# missed: whether a set is padded as a whole is in the data

"""Set transformer pooling where whole sets may be padding."""

import equinox as eqx
import jax
import jax.numpy as jnp


class Pool(eqx.Module):
    query: jax.Array
    value: eqx.nn.Linear

    def __init__(self, size, key):
        qkey, vkey = jax.random.split(key)
        self.query = jax.random.normal(qkey, (size,))
        self.value = eqx.nn.Linear(size, size, key=vkey)

    def __call__(self, items, mask):
        bias = jnp.where(mask, 0.0, -jnp.inf)  # finding-also
        scores = items @ self.query + bias  # finding-also
        weights = jax.nn.softmax(scores)  # finding
        weights = jnp.where(mask, weights, 0.0)
        return weights @ jax.vmap(self.value)(items)


@eqx.filter_value_and_grad
def loss_fn(model, items, mask, target):
    pooled = jax.vmap(model)(items, mask)
    return jnp.mean((pooled - target) ** 2)


def main():
    model = Pool(8, jax.random.key(0))
    items = jax.random.normal(jax.random.key(1), (4, 6, 8))
    lengths = jnp.array([6, 3, 0, 1])
    mask = jnp.arange(6) < lengths[:, None]
    loss, grads = eqx.filter_jit(loss_fn)(model, items, mask, jnp.ones((4, 8)))
    print(loss, grads.query)


if __name__ == "__main__":
    main()
