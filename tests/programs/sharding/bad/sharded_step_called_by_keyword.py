# source: jax-ml/jax#11303
# blind: second

import jax
import jax.numpy as jnp
import optax
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

TX = optax.adamw(1e-3)


def loss_fn(params, x, y):
    return jnp.mean((jnp.tanh(x @ params["w"]) @ params["v"] - y) ** 2)


def train_step(params, state, x, y):
    grads = jax.grad(loss_fn)(params, x, y)
    updates, state = TX.update(grads, state, params)
    return optax.apply_updates(params, updates), state


def compile_step(mesh):
    replicated = NamedSharding(mesh, P())
    rows = NamedSharding(mesh, P("batch"))
    return jax.jit(
        train_step,
        in_shardings=(replicated, replicated, rows, rows),
        out_shardings=(replicated, replicated),
    )


def main():
    mesh = jax.make_mesh((8,), ("batch",))
    step = compile_step(mesh)
    kw, kv, kx = jax.random.split(jax.random.key(0), 3)
    params = {"w": jax.random.normal(kw, (4, 8)), "v": jax.random.normal(kv, (8,))}
    state = TX.init(params)
    for x in jax.random.normal(kx, (3, 16, 4)):
        params, state = step(params, state, x=x, y=x[:, 0])  # finding
    print(params["v"].shape)


if __name__ == "__main__":
    main()
