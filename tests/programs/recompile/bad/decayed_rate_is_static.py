# source: cgiovanetti/LINX#13
# blind: fifth

from functools import partial

import haiku as hk
import jax
import jax.numpy as jnp


def net_fn(x):
    return hk.nets.MLP([32, 1])(x)


net = hk.without_apply_rng(hk.transform(net_fn))


@partial(jax.jit, static_argnames=("lr", "momentum"))  # finding-also
def sgd_step(params, velocity, x, y, lr, momentum=0.9):
    def loss_fn(p):
        return jnp.mean((net.apply(p, x) - y) ** 2)

    grads = jax.grad(loss_fn)(params)
    velocity = jax.tree.map(lambda v, g: momentum * v - lr * g, velocity, grads)
    return jax.tree.map(jnp.add, params, velocity), velocity


def train(x, y, steps, base_lr=0.1):
    params = net.init(jax.random.PRNGKey(0), x)
    velocity = jax.tree.map(jnp.zeros_like, params)
    for i in range(steps):
        lr = base_lr * 0.99**i
        params, velocity = sgd_step(params, velocity, x, y, lr=lr)  # finding
    return params


if __name__ == "__main__":
    out = train(jnp.ones((8, 4)), jnp.zeros((8, 1)), 3)
    print(jax.tree.map(jnp.shape, out))
