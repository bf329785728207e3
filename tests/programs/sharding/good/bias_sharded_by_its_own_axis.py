# source: jax-ml/jax#8839
# blind: second

import dataclasses

import jax
import jax.numpy as jnp
from jax.sharding import Mesh, NamedSharding, PartitionSpec


@dataclasses.dataclass(frozen=True)
class Layout:
    mesh: Mesh
    kernel: PartitionSpec = PartitionSpec(None, "model")
    bias: PartitionSpec = PartitionSpec("model")

    def place(self, value):
        spec = self.kernel if value.ndim == 2 else self.bias
        return jax.device_put(value, NamedSharding(self.mesh, spec))


def make_layout():
    devices = jax.device_count()
    return Layout(jax.make_mesh((1, devices), ("data", "model"), axis_types=(jax.sharding.AxisType.Auto,) * 2))


def init(key, layout, sizes):
    params = []
    for n, m in zip(sizes[:-1], sizes[1:], strict=True):
        key, sub = jax.random.split(key)
        params.append((layout.place(jax.random.normal(sub, (n, m))), layout.place(jnp.zeros((m,)))))
    return params


@jax.jit
def forward(params, x):
    for kernel, bias in params:
        x = jax.nn.relu(x @ kernel + bias)
    return x


if __name__ == "__main__":
    params = init(jax.random.key(0), make_layout(), (8, 16, 32))
    print(forward(params, jnp.ones((4, 8))).sharding)
