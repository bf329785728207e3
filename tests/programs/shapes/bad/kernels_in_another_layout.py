# blind: fourteenth
import jax
import jax.numpy as jnp
from jax import lax


def conv_init(key, c_in, c_out, size=3):
    fan_in = c_in * size * size
    w = jax.random.normal(key, (c_out, c_in, size, size)) * jnp.sqrt(2.0 / fan_in)
    return {"w": w, "b": jnp.zeros(c_out)}


def conv(params, x, stride=1):
    y = lax.conv_general_dilated(  # finding
        x,
        params["w"],
        window_strides=(stride, stride),
        padding="SAME",
        dimension_numbers=("NHWC", "HWIO", "NHWC"),
    )
    return y + params["b"]


def init_encoder(key, channels=(1, 8, 12), latent=4):
    keys = jax.random.split(key, len(channels))
    convs = [conv_init(k, m, n) for k, m, n in zip(keys, channels[:-1], channels[1:])]
    head = 0.1 * jax.random.normal(keys[-1], (channels[-1], latent))
    return {"convs": convs, "head": head}


@jax.jit
def encode(params, images):
    x = images
    for layer in params["convs"]:
        x = jax.nn.elu(conv(layer, x, stride=2))
    return x.mean(axis=(1, 2)) @ params["head"]


def main():
    params = init_encoder(jax.random.key(0))
    images = jax.random.uniform(jax.random.key(1), (3, 16, 16, 1))
    print(encode(params, images).shape)


if __name__ == "__main__":
    main()
