# source: jax-ml/jax#5798
# blind: seventh

"""Inverse rendering: albedo from a photograph with a display gamma."""

import jax
import jax.numpy as jnp

GAMMA = 1.0 / 2.2


def to_display(linear):
    low = 12.92 * linear
    high = 1.055 * linear**GAMMA - 0.055
    return jnp.where(linear <= 0.0031308, low, high)  # finding


def render(albedo, light, normals):
    shade = jax.nn.relu(normals @ light)
    return to_display(albedo * shade[:, None])


def loss(albedo, light, normals, photo):
    return jnp.mean((render(albedo, light, normals) - photo) ** 2)


@jax.jit
def gradient(albedo, light, normals, photo):
    return jax.grad(loss)(albedo, light, normals, photo)


if __name__ == "__main__":
    normals = jnp.array([[0.0, 0.0, 1.0], [0.0, 0.0, -1.0]])
    print(gradient(jnp.ones((2, 3)), jnp.array([0.0, 0.0, 1.0]), normals, jnp.ones((2, 3))))
