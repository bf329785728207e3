# source: jax-ml/jax#24756
# blind: second

import jax
import jax.numpy as jnp
import numpy as np

RNG = np.random.default_rng(0)


def host_mixup(images, labels):
    order = RNG.permutation(len(images))
    weight = np.float32(RNG.beta(0.4, 0.4))
    mixed = weight * images + (1 - weight) * images[order]
    return mixed.astype(np.float32), labels[order].astype(np.int32), weight


def mixup(images, labels):
    specs = (
        jax.ShapeDtypeStruct(images.shape, jnp.float32),
        jax.ShapeDtypeStruct(labels.shape, jnp.int32),
        jax.ShapeDtypeStruct((), jnp.float32),
    )
    return jax.pure_callback(host_mixup, specs, images, labels)  # finding


@jax.jit
def loss(params, images, labels):
    images, other, weight = mixup(images, labels)
    logits = images.reshape(images.shape[0], -1) @ params
    logp = jax.nn.log_softmax(logits)
    picked = jnp.take_along_axis(logp, labels[:, None], axis=1)
    swapped = jnp.take_along_axis(logp, other[:, None], axis=1)
    return -jnp.mean(weight * picked + (1 - weight) * swapped)


if __name__ == "__main__":
    images = jnp.ones((4, 5, 5))
    labels = jnp.array([0, 1, 2, 1])
    print(loss(jnp.zeros((25, 3)), images, labels))
