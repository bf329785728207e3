# the replacement is fine
import jax


def spread(f, mesh, specs):
    return jax.shard_map(f, mesh=mesh, in_specs=specs, out_specs=specs)
