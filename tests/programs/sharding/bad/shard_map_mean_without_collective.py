# blind: eighteenth

import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()[:8]).reshape(4, 2), ("data", "model"))


def forward(w1, w2, x):
    h = jax.nn.relu(x @ w1)
    return jax.lax.psum(h @ w2, "model")


@functools.partial(
    jax.shard_map,
    mesh=mesh,
    in_specs=(P(None, "model"), P("model", None), P("data", None), P("data", None)),
    out_specs=P(),  # finding-also
)
def sharded_loss(w1, w2, x, y):
    pred = forward(w1, w2, x)
    loss = jnp.mean((pred - y) ** 2)
    return loss  # finding


@jax.jit
def loss_and_grad(w1, w2, x, y):
    return jax.value_and_grad(sharded_loss, argnums=(0, 1))(w1, w2, x, y)


def main():
    k1, k2, k3 = jax.random.split(jax.random.key(0), 3)
    w1 = jax.random.normal(k1, (8, 16)) * 0.1
    w2 = jax.random.normal(k2, (16, 4)) * 0.1
    x = jax.random.normal(k3, (32, 8))
    loss, _ = loss_and_grad(w1, w2, x, x[:, :4])
    print(loss)


if __name__ == "__main__":
    main()
