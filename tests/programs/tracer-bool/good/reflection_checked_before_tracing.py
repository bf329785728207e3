# source: GalacticDynamics/coordinax#561
# blind: third

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np


class Reflect(eqx.Module):
    matrix: jax.Array

    @classmethod
    def from_normal(cls, normal):
        normal = np.asarray(normal, float)
        if not np.any(np.linalg.norm(normal, axis=-1) > 1e-12):
            raise ValueError("the normal must not be zero")
        unit = normal / np.linalg.norm(normal)
        return cls(jnp.eye(unit.shape[0]) - 2.0 * jnp.outer(unit, unit))

    def __call__(self, points):
        return points @ self.matrix.T


@eqx.filter_jit
def mirrored(reflect, points):
    return reflect(points)


def main():
    pts = jnp.arange(6.0).reshape(2, 3)
    print(mirrored(Reflect.from_normal([0.0, 0.0, 1.0]), pts))


if __name__ == "__main__":
    main()
