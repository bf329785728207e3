# blind: tenth

import haiku as hk
import jax
import jax.numpy as jnp


def forward(x, train):
    x = hk.Linear(8)(x)
    x = hk.BatchNorm(True, True, 0.9)(x, is_training=train)
    return hk.Linear(1)(x)


net = hk.without_apply_rng(hk.transform_with_state(forward))


def loss(params, state, x, y):
    out, new_state = net.apply(params, state, x, True)  # finding
    return jnp.mean((out[:, 0] - y) ** 2)


@jax.jit  # finding-other
def sgd(params, state, x, y):
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, jax.grad(loss)(params, state, x, y))


params, state = net.init(jax.random.key(0), jnp.ones((4, 3)), True)
for i in range(3):
    params = sgd(params, state, jnp.ones((4, 3)) * i, jnp.ones(4))
print(net.apply(params, state, jnp.ones((4, 3)), False)[0].shape)
