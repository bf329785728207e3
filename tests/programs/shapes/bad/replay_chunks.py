# source: jax-ml/jax#34257
# blind: twenty-first
# missed: a start that wraps round at a capacity that is no multiple of the rows

from typing import NamedTuple

import jax
import jax.numpy as jnp

CAPACITY = 1000  # finding-also
CHUNK = 64  # finding-also
OBS = 4


class Buffer(NamedTuple):
    data: jax.Array
    pos: jax.Array
    size: jax.Array


def create():
    return Buffer(
        data=jnp.full((CAPACITY, OBS + 1), -1.0),
        pos=jnp.zeros((), jnp.int32),
        size=jnp.zeros((), jnp.int32),
    )


@jax.jit
def push(buf, rows):
    data = jax.lax.dynamic_update_slice(buf.data, rows, (buf.pos, 0))  # finding
    return Buffer(
        data=data,
        pos=(buf.pos + CHUNK) % CAPACITY,  # finding-also
        size=jnp.minimum(buf.size + CHUNK, CAPACITY),
    )


@jax.jit
def sample(buf, key):
    idx = jax.random.randint(key, (256,), 0, buf.size)
    return buf.data[idx]


def rollout(key, first_id):
    obs = jax.random.normal(key, (CHUNK, OBS))
    ids = first_id + jnp.arange(CHUNK, dtype=jnp.float32)
    return jnp.concatenate([obs, ids[:, None]], axis=1)


def main():
    buf = create()
    key = jax.random.key(0)
    pushed = 0
    for _ in range(40):
        key, sub = jax.random.split(key)
        buf = push(buf, rollout(sub, float(pushed)))
        pushed += CHUNK
    batch = sample(buf, key)
    ids = buf.data[:, -1]
    recent = int(jnp.sum(ids >= pushed - CAPACITY))
    print("pushed", pushed, "size", int(buf.size))
    print("rows among the newest", CAPACITY, ":", recent)
    print("oldest id kept", int(ids.min()), "oldest sampled", int(batch[:, -1].min()))


if __name__ == "__main__":
    main()
