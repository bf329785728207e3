# source: GalacticDynamics/coordinax#561
# blind: third

import equinox as eqx
import jax
import jax.numpy as jnp


def _is_degenerate(vec, tol=1e-12):
    return jnp.any(jnp.linalg.norm(vec, axis=-1) < tol)


class Reflect(eqx.Module):
    matrix: jax.Array

    @classmethod
    def from_normal(cls, normal):
        normal = jnp.asarray(normal, float)
        if bool(_is_degenerate(normal)):  # finding
            raise ValueError("the normal must not be zero")
        unit = normal / jnp.linalg.norm(normal)
        return cls(jnp.eye(unit.shape[0]) - 2.0 * jnp.outer(unit, unit))

    def __call__(self, points):
        return points @ self.matrix.T


@eqx.filter_jit
def mirrored(normal, points):
    return Reflect.from_normal(normal)(points)


def main():
    pts = jnp.arange(6.0).reshape(2, 3)
    print(mirrored(jnp.array([0.0, 0.0, 1.0]), pts))


if __name__ == "__main__":
    main()
