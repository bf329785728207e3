# source: jax-ml/jax#25186

import jax
import jax.numpy as jnp


def local_mean(signal, centre, half_width):
    window = jax.lax.dynamic_slice_in_dim(signal, centre - half_width, 2 * half_width + 1)  # finding
    return window.mean()


def adaptive_smooth(signal, widths):
    def body(i, out):
        return out.at[i].set(local_mean(signal, i, widths[i]))

    return jax.lax.fori_loop(0, signal.shape[0], body, jnp.zeros_like(signal))


def main():
    signal = jnp.sin(jnp.linspace(0, 6, 50))
    widths = jnp.where(jnp.arange(50) < 25, 2, 4)
    print(adaptive_smooth(signal, widths)[:5])


if __name__ == "__main__":
    main()
