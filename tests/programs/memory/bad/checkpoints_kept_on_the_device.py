# source: patrick-kidger/equinox#673
# blind: second
# missed: keeping parameters may be what the program is for

import jax
import jax.numpy as jnp


@jax.jit
def step(params, x):
    grads = jax.grad(lambda p: jnp.mean((x @ p["w"]) ** 2))(params)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)


def train(params, xs):
    snapshots = []
    for x in xs:
        params = step(params, x)
        snapshots.append(params)  # finding
    return params, snapshots


if __name__ == "__main__":
    xs = jax.random.normal(jax.random.key(0), (10, 8, 256))
    _, snapshots = train({"w": jnp.ones((256, 256))}, list(xs))
    print(len(snapshots))
