# blind: eleventh

"""Custom_vjp: the backward pass returns one cotangent for two arguments."""
import jax
import jax.numpy as jnp


@jax.custom_vjp
def soft_threshold(x, level):
    return jnp.sign(x) * jnp.maximum(jnp.abs(x) - level, 0.0)


def forward(x, level):
    active = jnp.abs(x) > level
    return soft_threshold(x, level), (active, jnp.sign(x))


def backward(residuals, cotangent):  # finding
    active, sign = residuals
    return jnp.where(active, cotangent, 0.0)


soft_threshold.defvjp(forward, backward)


def ista_layer(params, z, y):
    gradient = params["dictionary"].T @ (params["dictionary"] @ z - y)
    return soft_threshold(z - 0.1 * gradient, params["level"])


def loss(params, y):
    z = jnp.zeros(params["dictionary"].shape[1])
    for _ in range(3):
        z = ista_layer(params, z, y)
    return jnp.sum((params["dictionary"] @ z - y) ** 2)


if __name__ == "__main__":
    params = {"dictionary": jnp.ones((4, 6)), "level": jnp.float32(0.1)}
    print(jax.grad(loss)(params, jnp.ones(4)))
