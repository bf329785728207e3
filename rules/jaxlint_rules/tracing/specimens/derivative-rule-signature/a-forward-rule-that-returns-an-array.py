# a `fwd` that returns one array, which it computes or gets from a function; pairs from functions
import jax
import jax.numpy as jnp


@jax.custom_vjp
def soft_sign(x):
    return jnp.sign(x)


def soft_fwd(x):  # finding
    return soft_sign(x)


def soft_bwd(residuals, g):
    return (g,)


soft_sign.defvjp(soft_fwd, soft_bwd)


@jax.custom_vjp
def scaled(x, factor):
    return x * factor


def scaled_fwd(x, factor):  # finding
    total = jnp.sum(x)
    return x * factor + total


def scaled_bwd(residuals, g):
    return g, None


scaled.defvjp(scaled_fwd, scaled_bwd)


@jax.custom_vjp
def clipped(x):
    return jnp.clip(x, -1.0, 1.0)


def _with_residuals(x):
    return clipped(x), (x,)


def clipped_fwd(x):
    result = _with_residuals(x)
    return result


def clipped_bwd(residuals, g):
    (x,) = residuals
    return (jnp.where(jnp.abs(x) <= 1.0, g, 0.0),)


clipped.defvjp(clipped_fwd, clipped_bwd)


def loss(x):
    return jnp.sum(soft_sign(x) + scaled(x, 2.0) + clipped(x))


print(jax.grad(loss)(jnp.ones(3)))
