# source: noegroup/ScoreMD#7
# blind: nineteenth

import functools
import time

import jax
import jax.numpy as jnp


def double_well(x):
    return (x[0] ** 2 - 1.0) ** 2 + 0.5 * jnp.sum(x[1:] ** 2) + 0.3 * x[0] * x[1]


force = jax.grad(lambda x: -double_well(x))


def baoab_step(x, v, key, dt, friction, temperature):
    v = v + 0.5 * dt * force(x)
    x = x + 0.5 * dt * v
    decay = jnp.exp(-friction * dt)
    kick = jnp.sqrt(temperature * (1.0 - decay ** 2))
    v = decay * v + kick * jax.random.normal(key, v.shape)
    x = x + 0.5 * dt * v
    v = v + 0.5 * dt * force(x)
    return x, v


@functools.partial(jax.jit, static_argnames=("num_steps",))  # finding-also
def step_n(x, v, key, num_steps, dt=0.02, friction=1.0, temperature=0.4):  # finding-also
    for _ in range(num_steps):  # finding
        key, sub = jax.random.split(key)
        x, v = baoab_step(x, v, sub, dt, friction, temperature)
    return x, v, key


def sample_chain(key, blocks, steps_per_block, dim):
    x, v = jnp.zeros(dim).at[0].set(1.0), jnp.zeros(dim)
    frames = []
    for _ in range(blocks):
        x, v, key = step_n(x, v, key, steps_per_block)
        frames.append(x)
    return jnp.stack(frames)


def main():
    start = time.perf_counter()
    frames = sample_chain(jax.random.key(0), 60, 10, 4)
    frames.block_until_ready()
    print("left basin share", float((frames[:, 0] < 0).mean()))
    print("seconds", round(time.perf_counter() - start, 2))


if __name__ == "__main__":
    main()
