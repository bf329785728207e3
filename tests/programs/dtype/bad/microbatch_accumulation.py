# source: mlnomadpy/flaxchat#6
# blind: nineteenth

import jax
import jax.numpy as jnp

MICRO = 512


def init_mlp(key, sizes):
    keys = jax.random.split(key, len(sizes) - 1)
    return [
        {
            "w": (jax.random.normal(k, (m, n)) * m ** -0.5).astype(jnp.bfloat16),
            "b": jnp.zeros((n,), jnp.bfloat16),
        }
        for k, m, n in zip(keys, sizes[:-1], sizes[1:])
    ]


def forward(params, x):
    for layer in params[:-1]:
        x = jax.nn.relu(x @ layer["w"] + layer["b"])
    return x @ params[-1]["w"] + params[-1]["b"]


def loss_fn(params, batch):
    pred = forward(params, batch["x"].astype(jnp.bfloat16)).astype(jnp.float32)
    return jnp.mean((pred - batch["y"]) ** 2)


@jax.jit
def accumulate_grads(params, batch):
    micro = jax.tree.map(lambda a: a.reshape(MICRO, -1, *a.shape[1:]), batch)

    def body(acc, mb):
        loss, g = jax.value_and_grad(loss_fn)(params, mb)
        return jax.tree.map(jnp.add, acc, g), loss  # finding-also

    zeros = jax.tree.map(jnp.zeros_like, params)  # finding
    total, losses = jax.lax.scan(body, zeros, micro)
    return jax.tree.map(lambda g: g / MICRO, total), losses.mean()


def main():
    k_x, k_y, k_p = jax.random.split(jax.random.key(0), 3)
    x = jax.random.normal(k_x, (MICRO * 4, 16))
    y = 2.0 + jnp.sin(x[:, :1]) + 0.1 * jax.random.normal(k_y, (MICRO * 4, 1))
    batch = {"x": x, "y": y}
    params = init_mlp(k_p, (16, 64, 1))
    grads, loss = accumulate_grads(params, batch)
    full = jax.jit(jax.grad(loss_fn))(params, batch)
    num = sum(jnp.sum((a.astype(jnp.float32) - b.astype(jnp.float32)) ** 2) for a, b in zip(jax.tree.leaves(grads), jax.tree.leaves(full)))
    den = sum(jnp.sum(b.astype(jnp.float32) ** 2) for b in jax.tree.leaves(full))
    print("loss", float(loss), "relative error of the accumulated gradient", float(jnp.sqrt(num / den)))


if __name__ == "__main__":
    main()
