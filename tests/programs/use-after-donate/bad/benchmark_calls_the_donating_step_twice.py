# source: jax-ml/jax#9237
# blind: eighth

import jax
import jax.numpy as jnp


def shift(field, velocity):
    return field - velocity * (field - jnp.roll(field, 1))


advance = jax.jit(shift, donate_argnums=(0,))


def main():
    field = jnp.sin(jnp.linspace(0.0, 6.28, 64))
    advance(field, 0.5).block_until_ready()
    out = advance(field, 0.5).block_until_ready()  # finding
    print(out.sum())


if __name__ == "__main__":
    main()
