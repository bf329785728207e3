# source: jax-ml/jax#1251
# blind: second

import functools

import jax
import jax.numpy as jnp


class Pooling:
    def __init__(self, scale):
        self.scale = scale

    @functools.partial(jax.jit, static_argnums=(0, 1))
    def __call__(self, x, window):  # finding-also
        n = x.shape[0] // window
        return self.scale * x[: n * window].reshape(n, window, -1).mean(axis=1)


def multi_scale(x, pooling, windows=(2, 4, 8)):
    return [pooling(x, window) for window in windows]  # finding


def energy(levels):
    return sum(jnp.mean(level**2) for level in levels)


def main():
    signal = jax.random.normal(jax.random.key(0), (64, 3))
    print(energy(multi_scale(signal, Pooling(0.5))))


if __name__ == "__main__":
    main()
