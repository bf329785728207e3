# source: gchq/coreax#470

import timeit

import jax
import jax.numpy as jnp


@jax.jit
def conv_block(x, kernel):
    y = jax.lax.conv(x, kernel, (1, 1), "SAME")
    return jax.nn.relu(y)


def time_function(fn, *args, repeat=20):
    fn(*args).block_until_ready()
    return timeit.timeit(lambda: fn(*args), number=repeat) / repeat  # finding


def main():
    x = jnp.ones((1, 4, 32, 32))
    kernel = jnp.ones((4, 4, 3, 3))
    print(f"{time_function(conv_block, x, kernel) * 1e3:.3f} ms")


if __name__ == "__main__":
    main()
