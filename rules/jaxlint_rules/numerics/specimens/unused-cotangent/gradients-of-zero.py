# rules that multiply by the cotangent, and those that stop the gradient on purpose

import jax
import jax.numpy as jnp


@jax.custom_vjp
def clip(x):
    return jnp.clip(x, -1, 1)


def clip_bwd(x, g):
    return (jnp.where(jnp.abs(x) < 1, g, 0.1 * g),)


clip.defvjp(lambda x: (jnp.clip(x, -1, 1), x), clip_bwd)


@jax.custom_vjp
def no_gradient(x, tree):
    return x


def no_gradient_fwd(x, tree):
    return x, (x, tree)


def no_gradient_bwd(res, g):
    x, tree = res
    dx = jnp.zeros_like(x)
    return dx, jax.tree.map(jnp.zeros_like, tree)


no_gradient.defvjp(no_gradient_fwd, no_gradient_bwd)


@jax.custom_vjp
def nothing(x):
    return x


def nothing_bwd(res, g):
    return (None,)


nothing.defvjp(lambda x: (x, None), nothing_bwd)


@jax.custom_vjp
def loss_with_its_gradient(x):
    return jnp.sum(x**2)


def keep_gradient(res, _):
    return (2 * res,)


loss_with_its_gradient.defvjp(lambda x: (jnp.sum(x**2), x), keep_gradient)
