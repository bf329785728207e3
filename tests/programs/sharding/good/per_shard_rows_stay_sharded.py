# source: jax-ml/jax#30679
# blind: sixth

"""Local normalisation of rows; only the mean is shared."""
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, PartitionSpec as P


def make_normalise(mesh):
    def local(x):
        mean = jax.lax.pmean(x.mean(0), "rows")
        return x - mean, mean

    return jax.jit(jax.shard_map(local, mesh=mesh, in_specs=P("rows"), out_specs=(P("rows"), P())))


def main():
    mesh = Mesh(np.array(jax.devices()), ("rows",))
    normalise = make_normalise(mesh)
    x, mean = normalise(jnp.arange(32.0).reshape(8, 4))
    print(x.sum(), mean)


if __name__ == "__main__":
    main()
