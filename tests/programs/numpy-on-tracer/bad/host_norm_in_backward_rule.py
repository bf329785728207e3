# source: wesselb/stheno#21
# blind: third

import jax
import jax.numpy as jnp
import numpy as np


@jax.custom_vjp
def unit_clip(x):
    return x


def _unit_clip_fwd(x):
    return x, None


def _unit_clip_bwd(_, g):
    size = np.linalg.norm(g)  # finding
    return (g / jnp.maximum(1.0, size),)


unit_clip.defvjp(_unit_clip_fwd, _unit_clip_bwd)


def energy(params, x):
    h = unit_clip(jnp.tanh(x @ params["w"]))
    return jnp.sum(h**3)


@jax.jit
def update(params, x):
    grads = jax.grad(energy)(params, x)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)


if __name__ == "__main__":
    print(update({"w": jnp.full((3, 2), 2.0)}, jnp.ones((4, 3))))
