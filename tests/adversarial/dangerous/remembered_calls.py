# function: normalize
# arguments: x=array
# refused: caches results of earlier calls

"""A helper is remembered by functools and reads a file that changes."""

import functools
import tempfile
from pathlib import Path

import jax
import jax.numpy as jnp

source = Path(tempfile.mkdtemp()) / "scale.txt"
source.write_text("1.0")


@functools.lru_cache(maxsize=None)
def scale():
    return float(source.read_text())


def normalize(x):
    return x * scale() / jnp.linalg.norm(x)


def main():
    x = jax.random.normal(jax.random.key(0), (64,))
    for number in range(60):
        if number == 30:
            source.write_text("2.0")
            scale.cache_clear()
        x = normalize(x + 0.1)
    print("norm", jnp.linalg.norm(x))


if __name__ == "__main__":
    main()
