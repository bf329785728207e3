# cotangents that are the derivative by the other argument, or have the shape of the result; those that fit, or approximate on purpose
import functools

import jax
import jax.numpy as jnp


@jax.custom_vjp
def rescale(values, gain):
    return values * jnp.tanh(gain)


def rescale_fwd(values, gain):
    t = jnp.tanh(gain)
    return values * t, (values, t)


def rescale_bwd(saved, cotangent):
    values, t = saved
    clipped = jnp.clip(cotangent, -10.0, 10.0)
    grad_values = clipped * t
    return clipped * values * (1 - t**2), grad_values  # finding


rescale.defvjp(rescale_fwd, rescale_bwd)


@functools.partial(jax.custom_vjp, nondiff_argnums=(0,))
def blend(mode, left, right):
    return jnp.exp(left) / right


def blend_fwd(mode, left, right):
    return blend(mode, left, right), (left, right)


def blend_bwd(mode, saved, g):
    left, right = saved
    out = jnp.exp(left) / right
    return -g * out / right, g * out  # finding


blend.defvjp(blend_fwd, blend_bwd)


@jax.custom_vjp
def shift(x, bias):
    return x + bias


shift.defvjp(lambda x, bias: (x + bias, None), lambda _, g: (g, g))  # finding


@jax.custom_vjp
def shifted(x, bias):
    return x + bias


shifted.defvjp(lambda x, bias: (x + bias, None), lambda _, g: (g, g.sum(axis=0)))


@jax.custom_vjp
def product(x, y):
    return x * y


product.defvjp(lambda x, y: (x * y, (x, y)), lambda saved, g: (g * saved[1], g * saved[0]))


# Straight through: the derivative of none of both, for both.
@jax.custom_vjp
def quantised(x, levels):
    return jnp.round(x * levels) / levels


quantised.defvjp(lambda x, levels: (quantised(x, levels), levels), lambda levels, g: (g, jnp.zeros_like(levels)))


# A reversed gradient, scaled: not that by the scale.
@jax.custom_vjp
def reverse(x, scale):
    return x


reverse.defvjp(lambda x, scale: (x, scale), lambda scale, g: (-scale * g, jnp.zeros_like(scale)))


@jax.custom_vjp
def project(x, w):
    return x @ w


def project_fwd(x, w):
    return x @ w, (x, w)


def project_bwd(saved, g):
    x, w = saved
    return g @ w.T, x.T @ g


project.defvjp(project_fwd, project_bwd)


@jax.jit
def gradients(x, y, w, bias):
    def loss(x, y, w, bias):
        total = jnp.sum(rescale(x, y)) + jnp.sum(blend("exp", x, y)) + jnp.sum(product(x, y)) + jnp.sum(quantised(x, y))
        rows = project(reverse(x, y), w)
        return total + jnp.sum(shift(rows, bias)) + jnp.sum(shifted(rows, bias))

    return jax.grad(loss, argnums=(0, 1, 2, 3))(x, y, w, bias)


gradients(jnp.ones((5, 4)), jnp.ones((5, 4)), jnp.ones((4, 3)), jnp.ones(3))
