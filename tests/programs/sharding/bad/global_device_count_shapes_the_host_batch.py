# source: google/flax#4220
# blind: sixth

"""A pmap input pipeline for several hosts."""
import functools

import jax
import jax.numpy as jnp
import numpy as np


def shard(batch):
    n = jax.device_count()  # finding
    return jax.tree.map(lambda x: x.reshape((n, x.shape[0] // n) + x.shape[1:]), batch)  # finding-also


def host_batches(global_batch):
    size = global_batch // jax.process_count()
    rng = np.random.default_rng(jax.process_index())
    while True:
        yield {"x": rng.normal(size=(size, 4)).astype(np.float32)}


@functools.partial(jax.pmap, axis_name="hosts")
def step(w, batch):
    grad = jax.grad(lambda w: jnp.mean((batch["x"] @ w) ** 2))(w)
    return w - 0.1 * jax.lax.pmean(grad, "hosts")


def main(distributed=False):
    if distributed:
        jax.distributed.initialize()
    w = jnp.ones((jax.local_device_count(), 4))
    for _, batch in zip(range(3), host_batches(64)):
        w = step(w, shard(batch))
    print(w[0])


if __name__ == "__main__":
    main()
