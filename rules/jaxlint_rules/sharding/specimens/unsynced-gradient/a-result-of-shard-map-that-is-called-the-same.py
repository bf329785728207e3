# a result of shard_map that is called the same on each device and is not

from functools import partial
import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P

def local_loss(w, x):
    return jnp.mean((x @ w) ** 2)

def loss(mesh, w, x):
    return jax.shard_map(  # finding
        local_loss, mesh=mesh, in_specs=(P(), P("data")), out_specs=P(), check_vma=False
    )(w, x)

mesh = jax.make_mesh((1,), ("data",))

@partial(jax.shard_map, mesh=mesh, in_specs=(P(), P("data")), out_specs=P(), check_vma=False)  # finding
def decorated(w, x):
    return jnp.mean((x @ w) ** 2)

@partial(jax.shard_map, mesh=mesh, in_specs=(P(), P("data")), out_specs=P(), check_vma=False)
def nested(w, x):
    return jax.shard_map(lambda w, x: x @ w, in_specs=(P(), P("data")), out_specs=P("data"))(w, x).sum()

@partial(jax.shard_map, mesh=mesh, in_specs=P("data"), out_specs=P())  # finding
def refused(x):
    rows = x - x.mean()
    return rows.sum(0)

def grads(mesh, w, x):
    local = lambda w, x: jax.grad(local_loss)(w, x)
    return jax.shard_map(local, mesh=mesh, in_specs=(P(), P("data")), out_specs=P(None), check_vma=False)(w, x)  # finding
