# source: jax-ml/jax#3970
# blind: sixth

"""Global statistics of a data set that is spread over devices."""
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh, PartitionSpec as P


class Moments:
    def __init__(self, mesh, axis="rows"):
        self.axis = axis
        self.fn = jax.jit(
            jax.shard_map(self._moments, mesh=mesh, in_specs=P("rows"), out_specs=(P(), P()))
        )

    def _moments(self, x):
        count = x.shape[0]
        mean = lax.psum(x.sum(axis=0), "rows") / count  # finding
        var = lax.psum(((x - mean) ** 2).sum(axis=0), "rows") / count  # finding-also
        return mean, var

    def __call__(self, x):
        return self.fn(x)


if __name__ == "__main__":
    moments = Moments(Mesh(np.array(jax.devices()), ("rows",)))
    print(moments(jnp.arange(32.0).reshape(16, 2)))
