# A model of flax.training.train_state.TrainState (flax 0.6 to 0.12).
from collections.abc import Callable
from typing import Any

import optax
from flax import struct

class TrainState(struct.PyTreeNode):
    step: Any
    apply_fn: Callable = struct.field(pytree_node=False)
    params: Any
    tx: optax.GradientTransformation = struct.field(pytree_node=False)
    opt_state: Any

    def apply_gradients(self, *, grads, **kwargs):
        updates, opt_state = self.tx.update(grads, self.opt_state, self.params)
        params = optax.apply_updates(self.params, updates)
        return self.replace(step=self.step + 1, params=params, opt_state=opt_state, **kwargs)

    @classmethod
    def create(cls, *, apply_fn, params, tx, **kwargs):
        opt_state = tx.init(params)
        return cls(step=0, apply_fn=apply_fn, params=params, tx=tx, opt_state=opt_state, **kwargs)
