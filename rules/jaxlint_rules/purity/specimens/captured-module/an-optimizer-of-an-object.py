# an optimizer that an object holds, whose method is jitted

import jax
import optax
from flax import nnx


class Trainer:
    def __init__(self, rngs):
        self.net = nnx.Linear(4, 4, rngs=rngs)
        self.optimizer = nnx.Optimizer(self.net, optax.sgd(0.1), wrt=nnx.Param)
        self.step = jax.jit(self._step)
        self.pure = nnx.jit(self._pure)

    def _step(self, x):
        loss, grads = nnx.value_and_grad(lambda net: net(x).sum())(self.net)
        self.optimizer.update(self.net, grads)  # finding
        return loss

    def _pure(self, net, optimizer, x):
        loss, grads = nnx.value_and_grad(lambda net: net(x).sum())(net)
        optimizer.update(net, grads)
        return loss
