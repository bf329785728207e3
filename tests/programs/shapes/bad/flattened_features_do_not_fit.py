# blind: eleventh

"""The flattened size of a convolution does not fit the weights of the head."""
import jax
import jax.numpy as jnp


def init_params(key):
    k1, k2, k3 = jax.random.split(key, 3)
    return {
        "conv1": jax.random.normal(k1, (3, 3, 1, 16)) * 0.1,
        "conv2": jax.random.normal(k2, (3, 3, 16, 32)) * 0.1,
        "head": jax.random.normal(k3, (7 * 7 * 32, 10)) * 0.01,
    }


def conv(x, kernel, stride):
    return jax.lax.conv_general_dilated(
        x, kernel, (stride, stride), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC")
    )


def apply(params, images):
    h = jax.nn.relu(conv(images, params["conv1"], 2))
    h = jax.nn.relu(conv(h, params["conv2"], 2))
    h = h.reshape(h.shape[0], -1)
    return h @ params["head"]  # finding


if __name__ == "__main__":
    params = init_params(jax.random.key(0))
    images = jnp.zeros((8, 28, 28, 1))
    print(jax.jit(apply)(params, images).shape)
