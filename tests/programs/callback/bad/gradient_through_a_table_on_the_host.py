# source: google/jaxopt#613
# blind: ninth

import jax
import jax.numpy as jnp
import numpy as np

GRID = np.linspace(0.0, 10.0, 101)
CROSS_SECTION = np.exp(-GRID) * (1.0 + 0.1 * np.sin(GRID))


class Opacity:
    def lookup(self, energy):
        return np.interp(energy, GRID, CROSS_SECTION).astype(np.float32)

    def __call__(self, energy):
        shape = jax.ShapeDtypeStruct(energy.shape, jnp.float32)
        return jax.pure_callback(self.lookup, shape, energy, vmap_method="expand_dims")  # finding


def depth(params, energy, opacity):
    shifted = energy * (1.0 + params["redshift"])
    return jnp.sum(params["density"] * opacity(shifted))


def fit(energy, steps=5):
    opacity = Opacity()
    params = {"density": jnp.float32(1.0), "redshift": jnp.float32(0.1)}
    for _ in range(steps):
        grads = jax.grad(depth)(params, energy, opacity)  # finding-also
        params = jax.tree.map(lambda p, g: p - 0.01 * g, params, grads)
    return params


if __name__ == "__main__":
    print(fit(jnp.linspace(0.5, 8.0, 16)))
