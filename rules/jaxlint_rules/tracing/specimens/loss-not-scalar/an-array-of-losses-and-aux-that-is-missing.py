# an array of losses, and aux that is missing
import jax
import jax.numpy as jnp

w = jnp.ones((3,))
x = jnp.ones((8, 3))


def losses(w, x):
    return (x @ w) ** 2


def mean_loss(w, x):
    return jnp.mean((x @ w) ** 2)


def triple(w, x):
    return jnp.sum(w), x, w


grads = jax.grad(losses)(w, x)  # finding
grads, aux = jax.grad(mean_loss, has_aux=True)(w, x)  # finding
grads, aux = jax.grad(triple, has_aux=True)(w, x)  # finding
