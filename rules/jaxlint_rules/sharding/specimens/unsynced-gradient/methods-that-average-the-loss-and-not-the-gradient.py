# methods that average the loss and not the gradient

import jax
import jax.numpy as jnp
import optax
from jax.sharding import PartitionSpec as P

class Trainer:
    def __init__(self, loss_fn, tx, mesh):
        self.loss_fn, self.tx = loss_fn, tx
        self.step = jax.jit(jax.shard_map(self._step, mesh=mesh, in_specs=(P(), P(), P("data")), out_specs=P(), check_vma=False))
        self.right = jax.jit(jax.shard_map(self._right, mesh=mesh, in_specs=(P(), P(), P("data")), out_specs=P(), check_vma=False))
        self.checked = jax.shard_map(self._step, mesh=mesh, in_specs=(P(), P(), P("data")), out_specs=P())
        self.hidden = jax.shard_map(self._hidden, mesh=mesh, in_specs=(P(), P(), P("data")), out_specs=P(), check_vma=False)

    def _step(self, params, state, batch):
        loss, grads = jax.value_and_grad(self.loss_fn)(params, batch)
        updates, state = self.tx.update(grads, state, params)  # finding
        return optax.apply_updates(params, updates), state, jax.lax.pmean(loss, "data")

    def _right(self, params, state, batch):
        loss, grads = jax.lax.pmean(jax.value_and_grad(self.loss_fn)(params, batch), "data")
        updates, state = self.tx.update(grads, state, params)
        return optax.apply_updates(params, updates), state, loss

    def _hidden(self, params, state, batch):
        loss, grads = jax.value_and_grad(self.loss_fn)(params, batch)
        updates, state = self.tx.update(grads, state, params)
        return optax.apply_updates(params, updates), state, loss

Trainer(lambda p, x: jnp.mean((x @ p) ** 2), optax.sgd(0.1), jax.make_mesh((1,), ("data",)))
