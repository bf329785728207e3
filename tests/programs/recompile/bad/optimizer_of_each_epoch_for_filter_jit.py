# blind: seventeenth

"""Fit a neural field; the rate falls by hand in each epoch."""
import equinox as eqx
import jax
import jax.numpy as jnp
import optax


def make_optimizer(lr):
    return optax.chain(optax.clip_by_global_norm(1.0), optax.adam(lr))


def loss_fn(model, coords, values):
    pred = jax.vmap(model)(coords)
    return jnp.mean((pred - values) ** 2)


@eqx.filter_jit
def train_step(model, opt_state, optim, coords, values):
    loss, grads = eqx.filter_value_and_grad(loss_fn)(model, coords, values)
    params = eqx.filter(model, eqx.is_inexact_array)
    updates, opt_state = optim.update(grads, opt_state, params)
    return eqx.apply_updates(model, updates), opt_state, loss


def fit(model, coords, values, epochs, steps):
    lr = 1e-2
    optim = make_optimizer(lr)
    opt_state = optim.init(eqx.filter(model, eqx.is_inexact_array))
    for epoch in range(epochs):
        optim = make_optimizer(lr * 0.9**epoch)  # finding-also
        for _ in range(steps):
            model, opt_state, loss = train_step(model, opt_state, optim, coords, values)  # finding
        print(epoch, loss)
    return model


if __name__ == "__main__":
    k_model, k_data = jax.random.split(jax.random.key(0))
    net = eqx.nn.MLP(2, 1, 32, 2, key=k_model)
    coords = jax.random.uniform(k_data, (256, 2))
    values = jnp.sin(6.0 * coords[:, :1])
    fit(net, coords, values, epochs=8, steps=5)
    print("programs", train_step._cached._cache_size())
