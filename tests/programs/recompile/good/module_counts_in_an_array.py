# source: patrick-kidger/equinox#1062
# blind: first

import equinox as eqx
import jax
import jax.numpy as jnp


class Source(eqx.Module):
    flux: jax.Array
    offset: jax.Array
    order: int = eqx.field(static=True, default=2)

    def render(self, grid):
        return self.flux * jnp.exp(-jnp.abs(grid - self.offset) ** self.order)


@eqx.filter_jit
def residual(source, image):
    grid = jnp.arange(image.shape[0])
    return jnp.sum((source.render(grid) - image) ** 2)


def scan_positions(image):
    best = []
    for x in range(image.shape[0]):
        best.append(residual(Source(jnp.ones(()), jnp.asarray(x)), image))
    return jnp.argmin(jnp.stack(best))


if __name__ == "__main__":
    print(scan_positions(jnp.zeros(64).at[20].set(1.0)))
