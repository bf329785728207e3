# source: jax-ml/jax#24204
# blind: third

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np


@dataclasses.dataclass
class Stencil:
    scale: jax.Array
    offsets: np.ndarray  # finding-also

    def apply(self, field):
        out = sum(jnp.roll(field, int(o)) for o in self.offsets)
        return self.scale * (out - len(self.offsets) * field)


jax.tree_util.register_dataclass(
    Stencil, data_fields=["scale"], meta_fields=["offsets"]  # finding
)


@jax.jit
def diffuse(stencil, field):
    return field + stencil.apply(field)


def sweep(field, widths):
    for width in widths:
        stencil = Stencil(jnp.float32(0.1), np.array([-width, width]))  # finding-also
        field = diffuse(stencil, field)  # finding-also
    return field


if __name__ == "__main__":
    print(sweep(jnp.arange(8.0), [1, 2]))
