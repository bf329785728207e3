# parts of an object that is not returned, though another part of it is

from dataclasses import dataclass

import jax


@jax.tree_util.register_dataclass
@dataclass
class Replay:
    data: jax.Array
    size: jax.Array


@jax.jit
def insert(buffer, item):
    buffer.data = buffer.data.at[buffer.size].set(item)  # finding
    buffer.size = buffer.size + 1
    return buffer.size


@jax.jit
def scaled(batch):
    batch["x"] = batch["x"] / 255.0
    return batch["x"].mean() + batch["y"].sum()


@jax.jit
def kept(buffer, item):
    buffer.data = buffer.data.at[buffer.size].set(item)
    return buffer


@jax.jit
def handed_on(buffer, item):
    buffer.data = buffer.data.at[buffer.size].set(item)
    return kept(buffer, item).size
