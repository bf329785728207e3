# source: jax-ml/jax#26053
# blind: eighteenth

import dataclasses

import jax
import jax.numpy as jnp


@dataclasses.dataclass
class LensParams:  # finding
    theta_e: jax.Array
    center: jax.Array
    shear: jax.Array


@jax.tree_util.register_dataclass
@dataclasses.dataclass
class SourceParams:
    flux: jax.Array
    radius: jax.Array


def deflect(lens, xy):
    d = xy - lens.center
    r = jnp.sqrt(jnp.sum(d**2, -1, keepdims=True) + 1e-6)
    g1, g2 = lens.shear
    sheared = jnp.stack([g1 * d[..., 0] + g2 * d[..., 1], g2 * d[..., 0] - g1 * d[..., 1]], -1)
    return lens.theta_e * d / r + sheared


@jax.jit
def render(lens, source, xy):  # finding-also
    beta = xy - deflect(lens, xy)
    r2 = jnp.sum(beta**2, -1)
    return source.flux * jnp.exp(-0.5 * r2 / source.radius**2)


def main():
    axis = jnp.linspace(-2.0, 2.0, 16)
    xy = jnp.stack(jnp.meshgrid(axis, axis), -1)
    lens = LensParams(jnp.asarray(1.0), jnp.zeros(2), jnp.array([0.05, -0.02]))
    source = SourceParams(jnp.asarray(3.0), jnp.asarray(0.2))
    print(render(lens, source, xy).sum())  # finding-also


if __name__ == "__main__":
    main()
