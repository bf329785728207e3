# another model is trained, or the function is compiled when the training is over

import jax
import jax.numpy as jnp
import optax
from flax import nnx


class Head(nnx.Module):
    def __init__(self, width, rngs):
        self.out = nnx.Linear(width, 1, rngs=rngs)

    def __call__(self, x):
        return self.out(x)


@nnx.jit
def improve(head, optimizer, x, y):
    grads = nnx.grad(lambda m: jnp.mean((m(x) - y) ** 2))(head)
    optimizer.update(head, grads)


class Distilled:
    def __init__(self):
        self.teacher = Head(4, nnx.Rngs(0))
        self.student = Head(4, nnx.Rngs(1))
        self.optimizer = nnx.Optimizer(self.student, optax.sgd(0.1), wrt=nnx.Param)
        head = self.teacher
        self.target = jax.jit(lambda x: head(x))

    def fit(self, batches):
        for x in batches:
            head = self.student
            improve(head, self.optimizer, x, self.target(x))


def at_the_end(batches, y):
    fitted = Head(4, nnx.Rngs(2))
    optimizer = nnx.Optimizer(fitted, optax.sgd(0.1), wrt=nnx.Param)
    for x in batches:
        improve(fitted, optimizer, x, y)
    final = jax.jit(lambda x: fitted(x))
    return [final(x) for x in batches]


def first_run_at_the_end(batches, y):
    served = Head(4, nnx.Rngs(3))
    serve = jax.jit(served.__call__)
    optimizer = nnx.Optimizer(served, optax.sgd(0.1), wrt=nnx.Param)
    for x in batches:
        improve(served, optimizer, x, y)
    return serve(batches[0])


def copy_that_stays(batches):
    online = Head(4, nnx.Rngs(4))
    frozen = nnx.clone(online)
    target = jax.jit(lambda x: frozen(x))
    optimizer = nnx.Optimizer(online, optax.sgd(0.1), wrt=nnx.Param)
    for x in batches:
        improve(online, optimizer, x, target(x))


ones = [jnp.ones((2, 4)), jnp.zeros((2, 4))]
Distilled().fit(ones)
at_the_end(ones, 0.0)
first_run_at_the_end(ones, 0.0)
copy_that_stays(ones)
