# source: jax-ml/jax#14397
# blind: second

import functools

import jax
import jax.numpy as jnp

THRESHOLD = 0.0031308


def linear_to_srgb(linear):
    toe = 12.92 * linear
    curve = 1.055 * linear ** (1 / 2.4) - 0.055
    return jnp.where(linear <= THRESHOLD, toe, curve)  # finding


def render(albedo, light, normals):
    shade = jnp.maximum(normals @ light, 0.0)
    return linear_to_srgb(albedo[None, :] * shade[:, None])


@functools.partial(jax.value_and_grad, argnums=0)
def photometric(albedo, light, normals, target):
    return jnp.mean((render(albedo, light, normals) - target) ** 2)


@jax.jit
def descend(albedo, light, normals, target):
    loss, grad = photometric(albedo, light, normals, target)
    return albedo - 0.5 * grad, loss


def main():
    normals = jax.random.normal(jax.random.key(0), (50, 3))
    normals = normals / jnp.linalg.norm(normals, axis=1, keepdims=True)
    light = jnp.array([0.0, 0.0, 1.0])
    target = jnp.full((50, 3), 0.5)
    albedo = jnp.full(3, 0.4)
    for _ in range(3):
        albedo, loss = descend(albedo, light, normals, target)
    print(albedo, loss)


if __name__ == "__main__":
    main()
