# source: jax-ml/jax#4862
# blind: first

import jax
import jax.numpy as jnp


@jax.custom_vjp
def safe_norm(x):
    return jnp.linalg.norm(x)


def safe_norm_fwd(x):
    norm = safe_norm(x)
    return norm, (x, norm)


def safe_norm_bwd(saved, cotangent):
    x, norm = saved
    if norm == 0:  # finding
        return (jnp.zeros_like(x),)
    return (cotangent * x / norm,)


safe_norm.defvjp(safe_norm_fwd, safe_norm_bwd)


@jax.jit
def gradient(x):
    return jax.grad(lambda v: safe_norm(v) ** 2)(x)


if __name__ == "__main__":
    print(gradient(jnp.zeros(3)))
