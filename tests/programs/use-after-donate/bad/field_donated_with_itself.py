# source: jax-ml/jax#9635
# blind: first

import jax
import jax.numpy as jnp


def relax(field, source):
    return 0.5 * field + 0.25 * (jnp.roll(field, 1) + jnp.roll(source, -1))


relax_step = jax.jit(relax, donate_argnums=(0,))


def smooth(field, n):
    for _ in range(n):
        field = relax_step(field, field)  # finding
    return field


if __name__ == "__main__":
    print(smooth(jnp.arange(32.0), 5).sum())
