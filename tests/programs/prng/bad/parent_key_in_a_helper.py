# source: AakashKumarNain/TF_JAX_tutorials#4
# blind: eighteenth

import jax
import jax.numpy as jnp
import numpy as np


def rotate90(img, k):
    return jax.lax.switch(k, [lambda a: a, jnp.rot90, lambda a: jnp.rot90(a, 2)], img)


def jitter(key, img, scale=0.05):
    return jnp.clip(img + scale * jax.random.normal(key, img.shape), 0.0, 1.0)


@jax.jit
def augment(key, images):
    batch = images.shape[0]
    key, subkey = jax.random.split(key)
    turns = jax.random.randint(key, (batch,), 0, 3)  # finding
    images = jax.vmap(rotate90)(images, turns)
    keys = jax.random.split(key, batch)  # finding-also
    return jax.vmap(jitter)(keys, images)


def batches(data, size):
    for i in range(0, len(data) - size + 1, size):
        yield data[i : i + size]


def main():
    rng = np.random.default_rng(0)
    data = rng.random((32, 8, 8)).astype(np.float32)
    key = jax.random.key(0)
    for i, batch in enumerate(batches(data, 8)):
        out = augment(jax.random.fold_in(key, i), batch)
    print(out.shape)


if __name__ == "__main__":
    main()
