# source: jax-ml/jax#28464
# blind: seventh

"""Histogram of particle energies, computed shard by shard."""

from functools import partial

import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec as P

mesh = jax.make_mesh((jax.device_count(),), ("p",))
EDGES = jnp.linspace(0.0, 5.0, 33)


@jax.jit
@partial(jax.shard_map, mesh=mesh, in_specs=(P("p"), P("p")), out_specs=P())  # finding-also
def energy_histogram(velocity, mass):
    energy = 0.5 * mass * jnp.sum(velocity**2, axis=-1)
    counts, _ = jnp.histogram(energy, bins=EDGES)
    return counts  # finding


def main():
    n = 64 * jax.device_count()
    sharding = NamedSharding(mesh, P("p"))
    velocity = jax.device_put(jax.random.normal(jax.random.key(0), (n, 3)), sharding)
    mass = jax.device_put(jnp.ones(n), sharding)
    print(energy_histogram(velocity, mass))


if __name__ == "__main__":
    main()
