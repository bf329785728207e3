# source: jax-ml/jax#30679
# blind: sixth

"""Mean field energy of many walkers, spread over devices by shard_map."""
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, PartitionSpec as P


def make_energy(mesh):
    def local_energy(theta, walkers):
        kinetic = 0.5 * jnp.sum((walkers * theta) ** 2, axis=-1)
        potential = jnp.sum(jnp.cos(walkers), axis=-1)
        return jnp.mean(kinetic + potential)

    return jax.jit(
        jax.shard_map(  # finding-also
            local_energy,
            mesh=mesh,
            in_specs=(P(), P("walkers")),
            out_specs=P(),  # finding
            check_vma=False,  # finding-also
        )
    )


def main():
    mesh = Mesh(np.array(jax.devices()), ("walkers",))
    energy = make_energy(mesh)
    walkers = jax.random.normal(jax.random.key(0), (64, 3))
    for k in (0.5, 1.0, 2.0):
        print(k, energy(jnp.full(3, k), walkers))


if __name__ == "__main__":
    main()
