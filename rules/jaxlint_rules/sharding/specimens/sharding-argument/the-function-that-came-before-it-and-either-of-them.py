# the function that came before it, and either of them

import jax
from jax.experimental.shard_map import shard_map
from jax.sharding import PartitionSpec as P

try:
    from jax import shard_map as mapped
except ImportError:
    from jax.experimental.shard_map import shard_map as mapped

mesh = jax.make_mesh((1,), ("data",))
double = shard_map(lambda x: 2 * x, mesh, P("data"), P("data"))
triple = mapped(lambda x: 3 * x, mesh, P("data"), P("data"))
