# blind: twenty-first

from typing import NamedTuple

import jax
import jax.numpy as jnp

CHUNK = 64
CAPACITY = 16 * CHUNK


class Buffer(NamedTuple):
    data: jax.Array
    pos: jax.Array
    size: jax.Array


def create(width):
    zero = jnp.zeros((), jnp.int32)
    return Buffer(jnp.full((CAPACITY, width), -1.0), zero, zero)


@jax.jit
def push(buf, rows):
    data = jax.lax.dynamic_update_slice(buf.data, rows, (buf.pos, 0))
    return Buffer(
        data=data,
        pos=(buf.pos + CHUNK) % CAPACITY,
        size=jnp.minimum(buf.size + CHUNK, CAPACITY),
    )


@jax.jit
def sample(buf, key):
    idx = jax.random.randint(key, (128,), 0, buf.size)
    return buf.data[idx]


def rollout(key, first_id):
    obs = jax.random.normal(key, (CHUNK, 3))
    ids = first_id + jnp.arange(CHUNK, dtype=jnp.float32)
    return jnp.concatenate([obs, ids[:, None]], axis=1)


def main():
    buf = create(4)
    key = jax.random.key(0)
    pushed = 0
    for _ in range(41):
        key, sub = jax.random.split(key)
        buf = push(buf, rollout(sub, float(pushed)))
        pushed += CHUNK
    key, sub = jax.random.split(key)
    batch = sample(buf, sub)
    ids = buf.data[:, -1]
    print("oldest kept", int(ids.min()), "expected", pushed - CAPACITY)
    assert int(ids.min()) == pushed - CAPACITY
    assert int(batch[:, -1].min()) >= pushed - CAPACITY


if __name__ == "__main__":
    main()
