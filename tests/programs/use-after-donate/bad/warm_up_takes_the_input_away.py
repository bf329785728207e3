# source: poets-ai/elegy#226
# blind: fifth

import time

import jax
import jax.numpy as jnp


@jax.jit
def smooth(image):
    return (image + jnp.roll(image, 1, 0) + jnp.roll(image, 1, 1)) / 3.0


smooth_in_place = jax.jit(smooth, donate_argnums=0)


def bench(size, repeats):
    image = jax.random.uniform(jax.random.key(0), (size, size))
    smooth_in_place(image).block_until_ready()
    start = time.perf_counter()
    for _ in range(repeats):
        out = smooth_in_place(image)  # finding
    out.block_until_ready()
    return (time.perf_counter() - start) / repeats


if __name__ == "__main__":
    print(bench(512, 10))
