# source: PlasmaControl/DESC#310
# blind: eighteenth

import functools

import jax
import jax.numpy as jnp
from flax import nnx


@jax.jit
def cost(u, target, weight):
    x = jnp.cumsum(u, axis=0) * 0.1
    return weight * jnp.sum((x - target) ** 2) + 1e-2 * jnp.sum(u**2)


class Tracking:
    def __init__(self, target, weight=1.0):
        self.target = jnp.asarray(target)
        self.weight = weight

    def __call__(self, u):
        return cost(u, self.target, self.weight)


@functools.partial(jax.jit, donate_argnums=0)
def descend(u, target, weight):
    def body(_, u):
        return u - 1e-3 * jax.grad(cost)(u, target, weight)

    return jax.lax.fori_loop(0, 50, body, u)


@nnx.jit
def predict(model, x):
    return nnx.relu(model(x))


def main():
    obj = Tracking(jnp.ones((8, 2)))
    u = jnp.zeros((8, 2))
    costs = []
    for weight in (1.0, 10.0, 100.0):
        obj.weight = weight
        u = descend(u, obj.target, obj.weight)
        costs.append(obj(u))
    print(jnp.stack(costs))
    model = nnx.Linear(2, 2, rngs=nnx.Rngs(0))
    before = predict(model, u)
    model.kernel[...] = model.kernel[...] * 0.5
    print(before.sum(), predict(model, u).sum())


if __name__ == "__main__":
    main()
