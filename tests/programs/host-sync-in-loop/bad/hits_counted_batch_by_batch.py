# source: google/flax#1101
# blind: fifth

import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np


def convnet(images):
    net = hk.Sequential([hk.Conv2D(8, 3), jax.nn.relu, hk.Flatten(), hk.Linear(10)])
    return net(images)


model = hk.without_apply_rng(hk.transform(convnet))


@jax.jit
def predict(params, images):
    return jnp.argmax(model.apply(params, images), axis=-1)


def accuracy(params, loader):
    hits, seen = 0, 0
    for images, labels in loader:
        predicted = predict(params, images)
        hits += int((predicted == labels).sum())  # finding
        seen += len(labels)
    return hits / seen


def main():
    rng = np.random.default_rng(0)
    loader = [(rng.normal(size=(4, 8, 8, 1)).astype("f4"), rng.integers(0, 10, 4)) for _ in range(3)]
    params = model.init(jax.random.PRNGKey(0), loader[0][0])
    print(f"accuracy {accuracy(params, loader):.3f}")


if __name__ == "__main__":
    main()
