# source: gbionics/jaxsim#339
# blind: seventh

"""Rotation vectors to matrices; the optimisation starts from no rotation."""

import jax
import jax.numpy as jnp


def from_axis_angle(vector):
    theta = jnp.linalg.norm(vector)  # finding
    axis = vector / (theta + 1e-8)
    x, y, z = axis
    k = jnp.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return jnp.eye(3) + jnp.sin(theta) * k + (1.0 - jnp.cos(theta)) * (k @ k)


def alignment_loss(vector, source, target):
    return jnp.mean((source @ from_axis_angle(vector).T - target) ** 2)


@jax.jit
def align(source, target):
    def body(_, v):
        return v - 0.5 * jax.grad(alignment_loss)(v, source, target)

    return jax.lax.fori_loop(0, 50, body, jnp.zeros(3))


if __name__ == "__main__":
    source = jax.random.normal(jax.random.key(0), (10, 3))
    print(align(source, source[:, ::-1]))
