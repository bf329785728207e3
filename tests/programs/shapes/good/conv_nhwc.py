# blind: nineteenth

import jax
import jax.numpy as jnp
from jax import lax

LAYOUT = ("NHWC", "HWIO", "NHWC")


def init_conv(key, size, cin, cout):
    scale = (2.0 / (size * size * cin)) ** 0.5
    return {"w": scale * jax.random.normal(key, (size, size, cin, cout)), "b": jnp.zeros(cout)}


def conv(p, x, stride=1):
    y = lax.conv_general_dilated(x, p["w"], (stride, stride), "SAME", dimension_numbers=LAYOUT)
    return y + p["b"]


def denoiser(params, x):
    h = jax.nn.relu(conv(params["in"], x))
    h = h + jax.nn.relu(conv(params["mid"], h))
    return x - conv(params["out"], h)


@jax.jit
def step(params, clean, noisy):
    def loss_fn(p):
        return jnp.mean((denoiser(p, noisy) - clean) ** 2)

    loss, grads = jax.value_and_grad(loss_fn)(params)
    return jax.tree.map(lambda p, g: p - 0.05 * g, params, grads), loss


def main():
    k1, k2, k3, k_img, k_noise = jax.random.split(jax.random.key(0), 5)
    params = {"in": init_conv(k1, 3, 1, 8), "mid": init_conv(k2, 3, 8, 8), "out": init_conv(k3, 3, 8, 1)}
    grid = jnp.linspace(0.0, 6.0, 16)
    phase = jax.random.uniform(k_img, (16, 1, 1, 1), maxval=6.0)
    clean = jnp.sin(grid[None, :, None, None] + phase) * jnp.cos(grid[None, None, :, None])
    noisy = clean + 0.3 * jax.random.normal(k_noise, clean.shape)
    for _ in range(60):
        params, loss = step(params, clean, noisy)
    print("loss", float(loss), "noise power", float(jnp.mean((noisy - clean) ** 2)))


if __name__ == "__main__":
    main()
