# function: patches
# arguments: image=array, shape=tuple
# static: shape
# refused: `shape` may be a list, which is unhashable
# flags: --shape 8 32

"""Images are cut into patches of a shape; the command line gives it as a list."""

import argparse

import jax
import jax.numpy as jnp


def patches(image, shape):
    rows, cols = shape
    cut = image.reshape(image.shape[0] // rows, rows, image.shape[1] // cols, cols)
    cut = jnp.swapaxes(cut, 1, 2)
    centred = cut - jnp.mean(cut, axis=(2, 3), keepdims=True)
    scaled = centred / (jnp.std(centred, axis=(2, 3), keepdims=True) + 1e-5)
    return jnp.tanh(scaled) * 0.5 + scaled


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--shape", type=int, nargs=2)
    args = parser.parse_args()
    shape = args.shape or (16, 16)
    image = jax.random.normal(jax.random.key(0), (64, 64))
    for turn in range(300):
        found = patches(image, shape)
        image = 0.99 * image + 0.01 * jnp.resize(found, image.shape)
        if turn % 100 == 99:
            print(turn, found.shape, f"{float(jnp.abs(image).sum()):.3f}")


if __name__ == "__main__":
    main()
