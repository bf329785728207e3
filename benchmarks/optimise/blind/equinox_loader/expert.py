# After equinox' FAQ and Kidger's sampling loops: an epoch is one lax.scan over the data on the device, partitioned modules are its carry.
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax


def compute_loss(model, x, y):
    prediction = jax.vmap(model)(x)
    return jnp.mean((prediction[:, 0] - y) ** 2)


@eqx.filter_jit(donate="all-except-first")
def run_epoch(data, model, opt_state, order, optim):
    x, y = data
    arrays, static = eqx.partition(model, eqx.is_array)

    def step(carry, picked):
        arrays, opt_state = carry
        model = eqx.combine(arrays, static)
        loss, grads = eqx.filter_value_and_grad(compute_loss)(model, x[picked], y[picked])
        updates, opt_state = optim.update(grads, opt_state, model)
        model = eqx.apply_updates(model, updates)
        return (eqx.filter(model, eqx.is_array), opt_state), loss

    (arrays, opt_state), losses = jax.lax.scan(step, (arrays, opt_state), order)
    model = eqx.combine(arrays, static)
    return model, opt_state, jnp.mean(losses), compute_loss(model, x, y)


def main():
    rng = np.random.RandomState(0)
    x = rng.uniform(-1, 1, size=(2048, 4))
    y = np.sin(3 * x[:, 0]) * x[:, 1] + x[:, 2] * x[:, 3]
    data = jnp.array(x, jnp.float32), jnp.array(y, jnp.float32)
    order_rng = np.random.RandomState(1)
    model = eqx.nn.MLP(4, 1, 32, 2, key=jax.random.PRNGKey(0))
    optim = optax.adam(3e-3)
    opt_state = optim.init(eqx.filter(model, eqx.is_inexact_array))
    for epoch in range(12):
        order = order_rng.permutation(len(x)).reshape(-1, 16)
        model, opt_state, loss, test = run_epoch(data, model, opt_state, order, optim)
        print(f"epoch {epoch:2d}  train loss {loss:.5f}  test loss {test:.5f}")


if __name__ == "__main__":
    main()
