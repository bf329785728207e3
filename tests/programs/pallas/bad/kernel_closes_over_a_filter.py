# source: jax-ml/jax#22746
# blind: sixth

"""Three-tap smoothing of each row."""
import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl

TAPS = jnp.array([0.25, 0.5, 0.25])


def smooth_kernel(x_ref, o_ref):
    x = x_ref[...]
    left = jnp.roll(x, 1, axis=-1)
    right = jnp.roll(x, -1, axis=-1)
    o_ref[...] = TAPS[0] * left + TAPS[1] * x + TAPS[2] * right  # finding


@jax.jit
def smooth(x):
    return pl.pallas_call(  # finding-also
        smooth_kernel,
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
        interpret=True,
    )(x)


def main():
    signal = jax.random.normal(jax.random.key(0), (4, 16))
    print(smooth(signal))


if __name__ == "__main__":
    main()
