# source: jax-ml/jax#1686
# blind: nineteenth

import jax
import jax.numpy as jnp


def init_gru(key, inputs, hidden):
    k_x, k_h, k_o = jax.random.split(key, 3)
    return {
        "wx": jax.random.normal(k_x, (inputs, 3 * hidden)) * inputs ** -0.5,
        "wh": jax.random.normal(k_h, (hidden, 3 * hidden)) * hidden ** -0.5,
        "b": jnp.zeros((3 * hidden,)),
        "out": jax.random.normal(k_o, (hidden, 1)) * hidden ** -0.5,
    }


def gru_cell(params, h, x):
    gates_x = x @ params["wx"] + params["b"]
    gates_h = h @ params["wh"]
    rx, zx, nx = jnp.split(gates_x, 3, axis=-1)
    rh, zh, nh = jnp.split(gates_h, 3, axis=-1)
    r = jax.nn.sigmoid(rx + rh)
    z = jax.nn.sigmoid(zx + zh)
    n = jnp.tanh(nx + r * nh)
    return (1.0 - z) * n + z * h


def encode(params, xs):
    hidden = params["wh"].shape[0]
    h0 = jnp.zeros((hidden,))  # finding

    def step(h, x):
        h = gru_cell(params, h, x)
        return h, h

    return jax.lax.scan(step, h0, jnp.swapaxes(xs, 0, 1))  # finding-also


def loss_fn(params, xs, ys):
    last, _ = encode(params, xs)
    return jnp.mean((last @ params["out"] - ys) ** 2)


@jax.jit
def sgd_step(params, xs, ys):
    loss, grads = jax.value_and_grad(loss_fn)(params, xs, ys)
    return jax.tree.map(lambda p, g: p - 0.05 * g, params, grads), loss


def main():
    k_data, k_par = jax.random.split(jax.random.key(0))
    xs = jax.random.normal(k_data, (32, 15, 4))
    ys = xs.sum(axis=(1, 2))[:, None] / 8.0
    params = init_gru(k_par, 4, 24)
    for _ in range(50):
        params, loss = sgd_step(params, xs, ys)
    print("loss", float(loss))


if __name__ == "__main__":
    main()
