# source: gchq/coreax#470
# blind: fifth

import time

import equinox as eqx
import jax
import jax.numpy as jnp


class Stopwatch:
    def __enter__(self):
        self.start = time.perf_counter()
        return self

    def __exit__(self, *exc):
        self.elapsed = time.perf_counter() - self.start


def main():
    model = eqx.nn.MLP(in_size=32, out_size=8, width_size=256, depth=3, key=jax.random.key(0))
    forward = eqx.filter_jit(jax.vmap(model))
    x = jnp.ones((512, 32))
    forward(x).block_until_ready()

    with Stopwatch() as watch:  # finding-also
        out = forward(x)  # finding
    print(f"forward pass: {watch.elapsed * 1e3:.3f} ms, output {out.shape}")  # finding-also


if __name__ == "__main__":
    main()
