# blind: nineteenth

import jax
import jax.numpy as jnp

MICRO = 64


def init(key, sizes):
    keys = jax.random.split(key, len(sizes) - 1)
    return [
        (jax.random.normal(k, (m, n)) * m ** -0.5).astype(jnp.bfloat16)
        for k, m, n in zip(keys, sizes[:-1], sizes[1:])
    ]


def loss_fn(params, x, y):
    h = jax.nn.relu(x.astype(jnp.bfloat16) @ params[0])
    pred = (h @ params[1]).astype(jnp.float32)
    return jnp.mean((pred - y) ** 2)


@jax.jit
def accumulate(params, x, y):
    xs = x.reshape(MICRO, -1, x.shape[-1])
    ys = y.reshape(MICRO, -1, 1)

    def body(acc, batch):
        grads = jax.grad(loss_fn)(params, *batch)
        return jax.tree.map(lambda a, g: a + g.astype(jnp.float32), acc, grads), None

    zeros = jax.tree.map(lambda p: jnp.zeros(p.shape, jnp.float32), params)
    total, _ = jax.lax.scan(body, zeros, (xs, ys))
    return jax.tree.map(lambda g: g / MICRO, total)


def main():
    k_p, k_x = jax.random.split(jax.random.key(0))
    params = init(k_p, (8, 32, 1))
    x = jax.random.normal(k_x, (MICRO * 4, 8))
    y = 1.0 + jnp.sin(x[:, :1])
    grads = accumulate(params, x, y)
    full = jax.jit(jax.grad(loss_fn))(params, x, y)
    num = sum(jnp.sum((a - b.astype(jnp.float32)) ** 2) for a, b in zip(grads, full))
    den = sum(jnp.sum(b.astype(jnp.float32) ** 2) for b in full)
    print("relative error", float(jnp.sqrt(num / den)), grads[0].dtype)


if __name__ == "__main__":
    main()
