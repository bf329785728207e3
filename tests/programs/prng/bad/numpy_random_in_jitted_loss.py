# source: jax-ml/jax#1239

import jax
import jax.numpy as jnp
import numpy as np

RNG = np.random.default_rng(0)


def corrupt(x, rate=0.3):
    mask = RNG.random(x.shape) > rate  # finding
    return x * mask


def reconstruct(params, x):
    return jnp.tanh(x @ params["enc"]) @ params["dec"]


@jax.jit
def denoise_step(params, x):
    def loss(p):
        return jnp.mean((reconstruct(p, corrupt(x)) - x) ** 2)  # finding-also

    value, grads = jax.value_and_grad(loss)(params)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads), value


def train(params, batches):
    for x in batches:
        params, value = denoise_step(params, x)
    return params, value


if __name__ == "__main__":
    params = {"enc": jnp.ones((6, 3)) * 0.1, "dec": jnp.ones((3, 6)) * 0.1}
    print(train(params, [jnp.ones((4, 6))] * 5)[1])
