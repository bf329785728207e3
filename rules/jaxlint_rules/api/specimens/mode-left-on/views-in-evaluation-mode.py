# evaluated through a view: the program switches modes in another way
import jax.numpy as jnp
import optax
from flax import nnx


class Tagger(nnx.Module):
    def __init__(self, width, rngs):
        self.out = nnx.Linear(width, 1, rngs=rngs)
        self.drop = nnx.Dropout(0.5, rngs=rngs)

    def __call__(self, x):
        return self.out(self.drop(x))


@nnx.jit
def improve(net, optimizer, x):
    grads = nnx.grad(lambda m: jnp.mean(m(x) ** 2))(net)
    optimizer.update(net, grads)


def validation_error(net, x):
    return jnp.mean(nnx.view(net, deterministic=True)(x) ** 2)


def fit(x):
    net = Tagger(4, nnx.Rngs(0))
    optimizer = nnx.Optimizer(net, optax.sgd(0.1), wrt=nnx.Param)
    improve(net, optimizer, x)
    return validation_error(net, x)


print(fit(jnp.ones((8, 4))))
