# source: jax-ml/jax#5798
# blind: seventh

"""Feature selection by mutual information of soft assignments."""

import jax
import jax.numpy as jnp


def entropy(p):
    return -jnp.sum(jnp.where(p > 0, p * jnp.log(p), 0.0), axis=-1)  # finding


def soft_histogram(values, centers, width):
    distance = jnp.abs(values[:, None] - centers[None, :])
    weights = jax.nn.relu(1.0 - distance / width)
    counts = weights.sum(axis=0)
    return counts / counts.sum()


def information(scale, values, centers):
    return entropy(soft_histogram(scale * values, centers, 0.2))


@jax.jit
def ascend(scale, values, centers):
    value, grad = jax.value_and_grad(information)(scale, values, centers)  # finding-also
    return scale + 0.05 * grad, value


if __name__ == "__main__":
    values = jax.random.uniform(jax.random.key(0), (50,))
    scale = jnp.array(0.3)
    for _ in range(3):
        scale, value = ascend(scale, values, jnp.linspace(0.0, 1.0, 16))
    print(scale, value)
