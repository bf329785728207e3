# source: jax-ml/jax#5215
# blind: fifth

import haiku as hk
import jax
import jax.numpy as jnp
import optax


def forward(x):
    return hk.nets.MLP([64, 64, 1])(x)


net = hk.without_apply_rng(hk.transform(forward))
optimizer = optax.adam(1e-3)


@jax.jit
def loss_fn(params, x, y):
    return jnp.mean((net.apply(params, x) - y) ** 2)


def train(x, y, n_steps):
    params = net.init(jax.random.PRNGKey(0), x)
    opt_state = optimizer.init(params)
    for _ in range(n_steps):
        loss, grads = jax.value_and_grad(loss_fn)(params, x, y)  # finding
        updates, opt_state = optimizer.update(grads, opt_state)  # finding-also
        params = optax.apply_updates(params, updates)  # finding-also
    return params, loss


if __name__ == "__main__":
    print(train(jnp.ones((32, 8)), jnp.zeros((32, 1)), 4)[1])
