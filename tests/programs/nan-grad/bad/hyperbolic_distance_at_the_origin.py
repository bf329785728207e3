# source: google-deepmind/optax#71
# blind: sixth

"""Embeddings in the Poincare ball."""
import jax
import jax.numpy as jnp


def poincare(u, v):
    delta = jnp.sum((u - v) ** 2, axis=-1)
    scale = (1.0 - jnp.sum(u**2, axis=-1)) * (1.0 - jnp.sum(v**2, axis=-1))
    return jnp.arccosh(1.0 + 2.0 * delta / scale)  # finding


def loss(table, edges, negatives):
    near = poincare(table[edges[:, 0]], table[edges[:, 1]])
    far = poincare(table[negatives[:, 0]], table[negatives[:, 1]])
    return jnp.mean(near) - jnp.mean(jnp.minimum(far, 1.0))


@jax.jit
def update(table, edges, negatives, lr=0.1):
    grad = jax.grad(loss)(table, edges, negatives)
    scale = ((1.0 - jnp.sum(table**2, -1, keepdims=True)) ** 2) / 4.0
    return table - lr * scale * grad


def main():
    table = 1e-3 * jax.random.normal(jax.random.key(0), (5, 2))
    edges = jnp.array([[0, 1], [2, 3]])
    negatives = jnp.array([[0, 0], [1, 4]])
    print(update(table, edges, negatives))


if __name__ == "__main__":
    main()
