# blind: fifth

import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np


def convnet(images):
    return hk.Sequential([hk.Conv2D(8, 3), jax.nn.relu, hk.Flatten(), hk.Linear(10)])(images)


model = hk.without_apply_rng(hk.transform(convnet))


@jax.jit
def count_hits(params, images, labels):
    predicted = jnp.argmax(model.apply(params, images), axis=-1)
    return jnp.sum(predicted == labels)


def accuracy(params, loader):
    hits, seen = [], 0
    for images, labels in loader:
        hits.append(count_hits(params, images, labels))
        seen += len(labels)
    return int(jnp.stack(hits).sum()) / seen


def main():
    rng = np.random.default_rng(0)
    loader = [(rng.normal(size=(4, 8, 8, 1)).astype("f4"), rng.integers(0, 10, 4)) for _ in range(3)]
    params = model.init(jax.random.PRNGKey(0), loader[0][0])
    print(f"accuracy {accuracy(params, loader):.3f}")


if __name__ == "__main__":
    main()
