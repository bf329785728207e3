# source: jax-ml/jax#8839
# blind: second
# missed: the shape comes from a parameter of the helper that places it

import dataclasses

import jax
import jax.numpy as jnp
from jax.sharding import Mesh, NamedSharding, PartitionSpec


@dataclasses.dataclass(frozen=True)
class Layout:
    mesh: Mesh
    kernel: PartitionSpec = PartitionSpec("data", "model")

    def place(self, value):
        return jax.device_put(value, NamedSharding(self.mesh, self.kernel))  # finding-also


def make_layout(data=2, model=4):
    return Layout(jax.make_mesh((data, model), ("data", "model")))


def init(key, layout, sizes):
    params = []
    for n, m in zip(sizes[:-1], sizes[1:], strict=True):
        key, sub = jax.random.split(key)
        kernel = layout.place(jax.random.normal(sub, (n, m)))
        bias = layout.place(jnp.zeros((m,)))  # finding
        params.append((kernel, bias))
    return params


@jax.jit
def forward(params, x):
    for kernel, bias in params:
        x = jax.nn.relu(x @ kernel + bias)
    return x


if __name__ == "__main__":
    params = init(jax.random.key(0), make_layout(), (8, 16, 32))
    print(forward(params, jnp.ones((4, 8))).sharding)
