# source: jax-ml/jax#28372
# blind: fourth
# missed: where an optimiser's state lives is not followed; small ones may be on one device

import os

os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=8")

import jax
import jax.numpy as jnp
import optax
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

mesh = jax.make_mesh((8,), ("fsdp",))
tx = optax.adamw(1e-3)


def init_params(key, layers=4, width=256):
    keys = jax.random.split(key, layers)
    return {f"layer{i}": 0.02 * jax.random.normal(k, (width, width)) for i, k in enumerate(keys)}


def create_state(key):
    params = init_params(key)
    opt_state = tx.init(params)  # finding-also
    params = jax.device_put(params, NamedSharding(mesh, P("fsdp")))  # finding
    return params, opt_state  # finding-also


@jax.jit
def train_step(params, opt_state, x):
    def loss_fn(p):
        h = x
        for name in sorted(p):
            h = jnp.tanh(h @ p[name])
        return jnp.mean(h**2)

    grads = jax.grad(loss_fn)(params)
    updates, opt_state = tx.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state


def main():
    params, opt_state = create_state(jax.random.key(0))
    print(opt_state[0].mu["layer0"].sharding)
    params, opt_state = train_step(params, opt_state, jnp.ones((8, 256)))
    return params


if __name__ == "__main__":
    main()
