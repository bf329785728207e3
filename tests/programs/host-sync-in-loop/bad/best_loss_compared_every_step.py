# source: lnccbrown/LANfactory#120
# blind: fifth

import jax
import jax.numpy as jnp
import optax


def forward(params, x):
    h = jax.nn.relu(x @ params["w1"])
    return h @ params["w2"]


def loss_fn(params, x, y):
    return optax.l2_loss(forward(params, x), y).mean()


optimizer = optax.sgd(1e-2)


@jax.jit
def update(params, opt_state, x, y):
    loss, grads = jax.value_and_grad(loss_fn)(params, x, y)
    updates, opt_state = optimizer.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state, loss


def train(params, batches, patience=100):
    opt_state = optimizer.init(params)
    best, best_params, waited = jnp.inf, params, 0
    for x, y in batches:
        params, opt_state, loss = update(params, opt_state, x, y)
        if loss < best:  # finding
            best, best_params, waited = loss, params, 0
        else:
            waited += 1
        if waited > patience:
            break
    return best_params, best


if __name__ == "__main__":
    key = jax.random.key(0)
    params = {"w1": jax.random.normal(key, (4, 8)), "w2": jnp.zeros((8, 1))}
    batches = [(jnp.ones((16, 4)), jnp.ones((16, 1)))] * 4
    print(train(params, batches)[1])
