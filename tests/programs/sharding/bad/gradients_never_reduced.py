# source: jax-ml/jax#14273
# blind: first

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("batch",))


def local_step(w, x, y):
    grads = jax.grad(lambda w: jnp.mean((x @ w - y) ** 2))(w)
    return w - 0.1 * grads


step = jax.jit(
    jax.shard_map(  # finding-also
        local_step,
        mesh=mesh,
        in_specs=(P(), P("batch"), P("batch")),
        out_specs=P(),  # finding-also
        check_vma=False,  # finding
    ),
    donate_argnums=0,
)


if __name__ == "__main__":
    w = jnp.zeros(4)
    for _ in range(3):
        w = step(w, jnp.ones((16, 4)), jnp.ones(16))
    print(w)
