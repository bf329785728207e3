# source: jax-ml/jax#3058
# blind: second

from typing import NamedTuple

import jax
import jax.numpy as jnp


class Params(NamedTuple):
    users: jax.Array
    items: jax.Array


def unit(v):
    return v / jnp.linalg.norm(v, axis=-1, keepdims=True)  # finding


def init(users, items, dim):
    return Params(jnp.zeros((users, dim)), 0.1 * jnp.ones((items, dim)))


def score(params, user, item):
    return jnp.sum(unit(params.users[user]) * unit(params.items[item]), axis=-1)


def bpr_loss(params, users, positives, negatives):
    margin = score(params, users, positives) - score(params, users, negatives)
    return -jnp.mean(jax.nn.log_sigmoid(margin))


@jax.jit
def sgd(params, users, positives, negatives, rate=0.1):
    grads = jax.grad(bpr_loss)(params, users, positives, negatives)
    return jax.tree.map(lambda p, g: p - rate * g, params, grads)


def main():
    params = init(10, 20, 4)
    users = jnp.array([0, 1, 2])
    for shift in range(3):
        params = sgd(params, users, users + shift, users + 10)
    print(jnp.isnan(params.users).any())


if __name__ == "__main__":
    main()
