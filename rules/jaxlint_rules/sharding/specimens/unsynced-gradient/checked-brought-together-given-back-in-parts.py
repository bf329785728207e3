# checked, brought together, given back in parts, the same everywhere

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P

def local_loss(w, x):
    return jnp.mean((x @ w) ** 2)

def mean_over(value):
    return jax.lax.pmean(value, "data")

def whole(w, x):
    return mean_over(local_loss(w, x))

def first(w, x):
    return jnp.where(jax.lax.axis_index("data") == 0, w, w)

def with_reduction(reduce):
    return jax.shard_map(lambda x: reduce(x.sum()), mesh=jax.make_mesh((1,), ("data",)), in_specs=P("data"), out_specs=P())

class Model:
    def loss(self, w, x):
        return self.reduce(local_loss(w, x))

def losses(mesh, w, x, model):
    one = jax.shard_map(lambda w, x: jnp.zeros_like(x[0]) + w, mesh=mesh, in_specs=(P(), P("data")), out_specs=P())
    two = jax.shard_map(whole, mesh=mesh, in_specs=(P(), P("data")), out_specs=P(), check_vma=False)
    three = jax.shard_map(lambda w, x: x @ w, mesh=mesh, in_specs=(P(), P("data")), out_specs=P("data"), check_vma=False)
    four = jax.shard_map(local_loss, mesh=mesh, in_specs=P(), out_specs=P(), check_vma=False)
    handed = jax.shard_map(lambda x: jax.tree.map(mean_over, [x.sum()]), mesh=mesh, in_specs=P("data"), out_specs=P())
    mapped = jax.shard_map(lambda x: jax.vmap(mean_over)(x).sum(), mesh=mesh, in_specs=P("data"), out_specs=P())
    largest = jax.shard_map(lambda w, x: jax.lax.pmax(jnp.max(x @ w), "data"), mesh=mesh, in_specs=(P(), P("data")), out_specs=P())
    five = jax.shard_map(first, mesh=mesh, in_specs=(P(), P("data")), out_specs=P(), check_vma=False)
    six = jax.shard_map(lambda w, x: model.loss(w, x), mesh=mesh, in_specs=(P(), P("data")), out_specs=P(), check_vma=False)
    return [f(w, x) for f in (one, two, three, four, five, six, largest)] + [handed(x), mapped(x)]
