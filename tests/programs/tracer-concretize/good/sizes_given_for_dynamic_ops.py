# source: jax-ml/jax#6350
# blind: eighteenth

import functools

import jax
import jax.numpy as jnp


@functools.partial(jax.jit, static_argnames=("max_pairs",))
def neighbor_list(pos, cutoff, max_pairs):
    d2 = jnp.sum((pos[:, None] - pos[None]) ** 2, -1)
    close = (d2 < cutoff**2) & ~jnp.eye(pos.shape[0], dtype=bool)
    senders, receivers = jnp.nonzero(close, size=max_pairs, fill_value=pos.shape[0])
    overflow = close.sum() > max_pairs
    return senders, receivers, overflow


@jax.jit
def coordination(pos, senders, receivers):
    n = pos.shape[0]
    padded = jnp.concatenate([pos, jnp.full((1, pos.shape[1]), 1e3)])
    d2 = jnp.sum((padded[senders] - padded[receivers]) ** 2, -1)
    weight = jnp.where(senders < n, jnp.exp(-d2), 0.0)
    return jax.ops.segment_sum(weight, receivers, num_segments=n + 1)[:n]


def main():
    pos = jax.random.uniform(jax.random.key(0), (20, 3), maxval=3.0)
    senders, receivers, overflow = neighbor_list(pos, 1.0, max_pairs=128)
    if bool(overflow):
        senders, receivers, _ = neighbor_list(pos, 1.0, max_pairs=400)
    print(coordination(pos, senders, receivers)[:4])


if __name__ == "__main__":
    main()
