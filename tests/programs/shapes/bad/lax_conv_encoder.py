# source: jax-ml/jax#3289
# blind: nineteenth

import jax
import jax.numpy as jnp
from jax import lax


def init_conv(key, kh, kw, cin, cout):
    fan_in = kh * kw * cin
    w = jax.random.normal(key, (kh, kw, cin, cout)) * jnp.sqrt(2.0 / fan_in)
    return {"w": w, "b": jnp.zeros((cout,))}


def init_encoder(key, latent):
    k1, k2, k3 = jax.random.split(key, 3)
    return {
        "c1": init_conv(k1, 3, 3, 3, 16),
        "c2": init_conv(k2, 3, 3, 16, 32),
        "proj": jax.random.normal(k3, (32, latent)) * 32 ** -0.5,
    }


def conv(p, x, stride):
    y = lax.conv_general_dilated(x, p["w"], (stride, stride), "SAME")  # finding
    return y + p["b"]


def encode(params, images):
    x = images.astype(jnp.float32) / 127.5 - 1.0
    x = jax.nn.gelu(conv(params["c1"], x, 2))
    x = jax.nn.gelu(conv(params["c2"], x, 2))
    return x.mean(axis=(1, 2)) @ params["proj"]


@jax.jit
def nt_xent(params, view_a, view_b):
    za, zb = encode(params, view_a), encode(params, view_b)
    za = za / jnp.linalg.norm(za, axis=-1, keepdims=True)
    zb = zb / jnp.linalg.norm(zb, axis=-1, keepdims=True)
    logits = za @ zb.T / 0.1
    return -jnp.mean(jnp.diag(jax.nn.log_softmax(logits, axis=-1)))


def main():
    key = jax.random.key(0)
    k_img, k_noise, k_par = jax.random.split(key, 3)
    images = jax.random.randint(k_img, (16, 32, 32, 3), 0, 256)
    jitter = jax.random.randint(k_noise, images.shape, -8, 9)
    params = init_encoder(k_par, 24)
    loss = nt_xent(params, images, jnp.clip(images + jitter, 0, 255))
    print("contrastive loss", float(loss))


if __name__ == "__main__":
    main()
