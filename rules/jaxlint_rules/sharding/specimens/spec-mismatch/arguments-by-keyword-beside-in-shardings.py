# arguments by keyword beside in_shardings

import jax
import jax.numpy as jnp
from jax._src.sharding_impls import UNSPECIFIED
from jax.sharding import NamedSharding, PartitionSpec as P

def step(w, x):
    return w - 0.1 * x.mean(0)

def make_step(mesh):
    whole, rows = NamedSharding(mesh, P()), NamedSharding(mesh, P("data"))
    return jax.jit(step, in_shardings=(whole, rows)), jax.jit(step, out_shardings=whole)

def main(x):
    placed, plain = make_step(jax.make_mesh((8,), ("data",)))
    w = placed(jnp.ones(3), x=x)  # finding
    return plain(placed(w, x), x=x)

def typed_jit(function, in_shardings=UNSPECIFIED):
    return jax.jit(function, in_shardings=in_shardings)

def by_name(w, x):
    return typed_jit(step)(w=w, x=x)
