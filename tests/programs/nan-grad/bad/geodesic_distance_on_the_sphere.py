# source: jax-ml/jax#1052
# blind: sixth

"""Great-circle losses for a navigation model."""
import jax
import jax.numpy as jnp


def to_unit(lat, lon):
    return jnp.stack(
        [jnp.cos(lat) * jnp.cos(lon), jnp.cos(lat) * jnp.sin(lon), jnp.sin(lat)], axis=-1
    )


def geodesic(u, v):
    cosine = jnp.sum(u * v, axis=-1)
    return jnp.arccos(jnp.clip(cosine, -1.0, 1.0))  # finding


def loss(params, features, goal):
    lat, lon = jnp.split(features @ params, 2, axis=-1)
    return jnp.mean(geodesic(to_unit(lat[:, 0], lon[:, 0]), goal) ** 2)


def train(features, goal, steps=10, lr=0.1):
    params = jnp.zeros((features.shape[1], 2))
    grad_fn = jax.jit(jax.grad(loss))
    for _ in range(steps):
        params = params - lr * grad_fn(params, features, goal)
    return params


if __name__ == "__main__":
    features = jnp.ones((4, 3))
    goal = to_unit(jnp.zeros(4), jnp.zeros(4))
    print(train(features, goal))
