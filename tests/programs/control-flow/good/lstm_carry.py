# blind: nineteenth

import jax
import jax.numpy as jnp


def init(key, inputs, hidden):
    k_x, k_h, k_o = jax.random.split(key, 3)
    return {
        "x": jax.random.normal(k_x, (inputs, 4 * hidden)) * inputs ** -0.5,
        "h": jax.random.normal(k_h, (hidden, 4 * hidden)) * hidden ** -0.5,
        "b": jnp.zeros(4 * hidden),
        "o": jax.random.normal(k_o, (hidden, 1)) * hidden ** -0.5,
    }


def encode(params, xs):
    hidden = params["h"].shape[0]
    zeros = jnp.zeros((xs.shape[0], hidden), xs.dtype)

    def cell(carry, x):
        h, c = carry
        i, f, g, o = jnp.split(x @ params["x"] + h @ params["h"] + params["b"], 4, axis=-1)
        c = jax.nn.sigmoid(f + 1.0) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), None

    (h, _), _ = jax.lax.scan(cell, (zeros, zeros), xs.swapaxes(0, 1))
    return h


@jax.jit  # finding-other
def step(params, xs, ys):
    def loss_fn(p):
        return jnp.mean((encode(p, xs) @ p["o"] - ys) ** 2)

    loss, grads = jax.value_and_grad(loss_fn)(params)
    return jax.tree.map(lambda p, g: p - 0.2 * g, params, grads), loss


def main():
    k_x, k_p = jax.random.split(jax.random.key(0))
    xs = jax.random.normal(k_x, (32, 8, 2))
    ys = xs.sum(axis=(1, 2))[:, None] / 4.0
    params = init(k_p, 2, 16)
    for _ in range(100):
        params, loss = step(params, xs, ys)
    print("loss", float(loss), "variance", float(ys.var()))


if __name__ == "__main__":
    main()
