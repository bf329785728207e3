# source: jax-ml/jax#28464
# blind: fourth

import os

os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=4")

import jax
import jax.numpy as jnp
import optax
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P


class DataParallel:
    """One copy of the parameters on each device, a part of the batch each."""

    def __init__(self, loss_fn, tx, mesh):
        self.loss_fn, self.tx, self.mesh = loss_fn, tx, mesh
        self.step = jax.jit(
            jax.shard_map(
                self._step,
                mesh=mesh,
                in_specs=(P(), P(), P("data")),
                out_specs=(P(), P(), P()),
                check_vma=False,
            )
        )

    def _step(self, params, opt_state, batch):
        loss, grads = jax.value_and_grad(self.loss_fn)(params, batch)
        loss, grads = jax.lax.pmean((loss, grads), "data")
        updates, opt_state = self.tx.update(grads, opt_state, params)
        return optax.apply_updates(params, updates), opt_state, loss


def loss_fn(params, batch):
    return jnp.mean((batch["x"] @ params - batch["y"]) ** 2)


def main():
    mesh = Mesh(jax.devices()[:4], ("data",))
    trainer = DataParallel(loss_fn, optax.sgd(0.1), mesh)
    x = jnp.arange(32.0).reshape(16, 2) / 32
    params = jnp.zeros(2)
    params, _, loss = trainer.step(params, trainer.tx.init(params), {"x": x, "y": x.sum(1)})
    print(params, loss)


if __name__ == "__main__":
    main()
