# source: apache/mxnet#9583

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np


class Classifier(nn.Module):
    classes: int

    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.classes)(nn.relu(nn.Dense(16)(x)))


def predict_all(model, variables, images, batch_size=8):
    apply = jax.jit(model.apply)
    outputs = []
    for start in range(0, len(images), batch_size):
        logits = apply(variables, images[start : start + batch_size])
        probs = jax.nn.softmax(logits)
        outputs.append(np.asarray(probs))  # finding
    return np.concatenate(outputs)


if __name__ == "__main__":
    model = Classifier(3)
    images = np.ones((32, 5), np.float32)
    variables = model.init(jax.random.key(0), images[:1])
    print(predict_all(model, variables, images).shape)
