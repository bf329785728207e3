"""A data-parallel train step of several processes, for `jaxlint verify --processes 2 --local-devices 2`.

Nothing is donated and nothing is recomputed, so that both can be proven.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

WIDTH, LAYERS, ROWS = 256, 24, 512  # rows of a process
optimizer = optax.adam(1e-3)


def loss_fn(params: Any, x: Any, y: Any) -> Any:
    def block(x: Any, w: Any) -> tuple[Any, None]:
        return jnp.tanh(jnp.tanh(x @ w) @ w), None

    x, _ = jax.lax.scan(block, x, params)
    return jnp.mean((x - y) ** 2)


@jax.jit
def train_step(params: Any, state: Any, x: Any, y: Any) -> tuple[Any, Any, Any]:
    loss, grads = jax.value_and_grad(loss_fn)(params, x, y)
    updates, state = optimizer.update(grads, state, params)
    return optax.apply_updates(params, updates), state, loss


def batches(steps: int, split: NamedSharding) -> Iterator[list[Any]]:
    generator = np.random.default_rng(jax.process_index())
    for _ in range(steps):
        x = generator.normal(size=(ROWS, WIDTH)).astype(np.float32)
        yield [jax.make_array_from_process_local_data(split, one) for one in (x, np.roll(x, 1, axis=1))]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=12)
    steps = parser.parse_args().steps
    jax.distributed.initialize()
    mesh = Mesh(np.array(jax.devices()), ("data",))
    whole = NamedSharding(mesh, P())
    params = jax.device_put(jax.random.normal(jax.random.key(0), (LAYERS, WIDTH, WIDTH)) * 0.05, whole)
    state = jax.jit(optimizer.init, out_shardings=whole)(params)
    for step, (x, y) in enumerate(batches(steps, NamedSharding(mesh, P("data")))):
        params, state, loss = train_step(params, state, x, y)
        if step % 4 == 0 and jax.process_index() == 0:
            print(step, float(loss))


if __name__ == "__main__":
    main()
