# blind: twelfth

import equinox as eqx
import jax
import jax.numpy as jnp


class Classifier(eqx.Module):
    conv: eqx.nn.Conv2d
    pool: eqx.nn.MaxPool2d
    linear: eqx.nn.Linear

    def __init__(self, key):
        k1, k2 = jax.random.split(key)
        self.conv = eqx.nn.Conv2d(1, 4, kernel_size=5, key=k1)
        self.pool = eqx.nn.MaxPool2d(kernel_size=2, stride=2)
        self.linear = eqx.nn.Linear(4 * 14 * 14, 10, key=k2)

    def __call__(self, image):
        h = self.pool(jax.nn.relu(self.conv(image)))
        return self.linear(h.reshape(-1))  # finding


@eqx.filter_jit
def predict(model, images):
    return jnp.argmax(jax.vmap(model)(images), axis=-1)


def main():
    model = Classifier(jax.random.key(0))
    images = jax.random.uniform(jax.random.key(1), (16, 1, 28, 28))
    print(predict(model, images))


if __name__ == "__main__":
    main()
