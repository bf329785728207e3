# source: vllm-project/tpu-inference#1859
# blind: second

import functools

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P


class TensorParallel:
    def __init__(self, mesh, axis):
        self.mesh = mesh
        self.axis = axis
        self.wrap = functools.partial(jax.shard_map, mesh=mesh, check_rep=False)  # finding

    def linear(self, x, w):
        def local(x, w):
            return jax.lax.psum(x @ w, self.axis)

        specs = (P(None, self.axis), P(self.axis, None))
        return self.wrap(local, in_specs=specs, out_specs=P())(x, w)  # finding-also

    def mlp(self, x, ws):
        for w in ws:
            x = jax.nn.relu(self.linear(x, w))
        return x


def main():
    layer = TensorParallel(jax.make_mesh((4,), ("model",)), "model")
    print(layer.mlp(jnp.ones((2, 8)), [jnp.eye(8), jnp.eye(8)]).shape)


if __name__ == "__main__":
    main()
