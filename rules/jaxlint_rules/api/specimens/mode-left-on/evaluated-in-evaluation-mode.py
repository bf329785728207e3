# switched before it is evaluated, without layers that have modes, or not trained
import jax.numpy as jnp
import optax
from flax import nnx


class Tagger(nnx.Module):
    def __init__(self, width, rate, rngs):
        self.out = nnx.Linear(width, 1, rngs=rngs)
        self.drop = nnx.Dropout(rate, rngs=rngs)

    def __call__(self, x):
        return self.out(self.drop(x))


class Plain(nnx.Module):
    def __init__(self, width, rngs):
        self.out = nnx.Linear(width, 1, rngs=rngs)
        self.norm = nnx.LayerNorm(width, rngs=rngs)

    def __call__(self, x):
        return self.out(self.norm(x))


def squared_error(net, x, y):
    return jnp.mean((net(x) - y) ** 2)


@nnx.jit
def improve(net, optimizer, x, y):
    grads = nnx.grad(squared_error)(net, x, y)
    optimizer.update(net, grads)


@nnx.jit
def validation_error(net, x, y):
    return squared_error(net, x, y)


def switched(x, y):
    net = Tagger(4, 0.5, nnx.Rngs(0))
    optimizer = nnx.Optimizer(net, optax.sgd(0.1), wrt=nnx.Param)
    for _ in range(3):
        net.train()
        improve(net, optimizer, x, y)
        net.eval()
        print(validation_error(net, x, y))
    return validation_error(net, x, y)


def without_modes(x, y):
    plain = Plain(4, nnx.Rngs(1))
    optimizer = nnx.Optimizer(plain, optax.sgd(0.1), wrt=nnx.Param)
    improve(plain, optimizer, x, y)
    return validation_error(plain, x, y)


def nothing_is_dropped(x, y):
    net = Tagger(4, 0.0, nnx.Rngs(2))
    optimizer = nnx.Optimizer(net, optax.sgd(0.1), wrt=nnx.Param)
    improve(net, optimizer, x, y)
    return validation_error(net, x, y)


def another_is_trained(x, y):
    trained, fresh = Tagger(4, 0.5, nnx.Rngs(3)), Tagger(4, 0.5, nnx.Rngs(4))
    optimizer = nnx.Optimizer(trained, optax.sgd(0.1), wrt=nnx.Param)
    improve(trained, optimizer, x, y)
    return validation_error(fresh, x, y)


x = jnp.ones((8, 4))
print(switched(x, 1.0), without_modes(x, 1.0), nothing_is_dropped(x, 1.0), another_is_trained(x, 1.0))
