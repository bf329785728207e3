# a dict, a list and an object that a compiled function changes for itself

from dataclasses import dataclass

import jax
import jax.numpy as jnp


@jax.jit
def update_stats(stats, batch):
    stats["count"] = stats["count"] + batch.shape[0]
    stats["mean"] = stats["mean"] + (batch.mean(0) - stats["mean"]) / stats["count"]  # finding


@jax.jit
def forward(params, x, activations):
    for w in params:
        x = jax.nn.relu(x @ w)
        activations.append(x)  # finding
    return x


@jax.tree_util.register_dataclass
@dataclass
class Sim:
    pos: jax.Array
    vel: jax.Array


@jax.jit
def kick(sim, dt):
    sim.pos = sim.pos + dt * sim.vel
    sim.vel = sim.vel - dt * sim.pos  # finding
