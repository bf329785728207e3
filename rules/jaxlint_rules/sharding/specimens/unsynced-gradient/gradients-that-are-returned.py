# gradients that shard_map returns as replicated, without a collective
import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P

mesh = jax.make_mesh((4,), ("dp",))


def loss_fn(params, x):
    return jnp.mean((x @ params) ** 2)


def unsynced(params, x):
    loss, grads = jax.value_and_grad(loss_fn)(params, x)
    return grads, jax.lax.pmean(loss, "dp")  # finding


def synced(params, x):
    loss, grads = jax.value_and_grad(loss_fn)(params, x)
    grads = jax.lax.pmean(grads, "dp")
    return grads, jax.lax.pmean(loss, "dp")


def per_device(params, x):
    loss, grads = jax.value_and_grad(loss_fn)(params, x)
    return grads[None], jax.lax.pmean(loss, "dp")


replicated = (P(), P())
one = jax.shard_map(unsynced, mesh=mesh, in_specs=(P(), P("dp")), out_specs=replicated, check_vma=False)
two = jax.shard_map(synced, mesh=mesh, in_specs=(P(), P("dp")), out_specs=replicated, check_vma=False)
three = jax.shard_map(
    per_device, mesh=mesh, in_specs=(P(), P("dp")), out_specs=(P("dp"), P()), check_vma=False
)
