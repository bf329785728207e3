# source: jax-ml/jax#10596
# blind: fifth
# missed: the sizes of layers that a comprehension makes are not known

import jax
import jax.numpy as jnp
from jax import random


def init_layer(key, n_in, n_out):
    w_key, b_key = random.split(key)
    return random.normal(w_key, (n_out, n_in)) * 0.01, random.normal(b_key, (n_out,)) * 0.01


def init_network(sizes, key):
    keys = random.split(key, len(sizes))
    return [init_layer(k, m, n) for k, m, n in zip(keys, sizes[:-1], sizes[1:])]


def predict(params, image):
    x = image
    for w, b in params[:-1]:
        x = jax.nn.relu(w @ x + b)
    w, b = params[-1]
    return w @ x + b


params = init_network([784, 512, 512, 10], random.key(0))
batched = jax.jit(jax.vmap(lambda image: predict(params, image)))  # finding

images = random.normal(random.key(1), (16, 784))
for _ in range(3):
    logits = batched(images)
print(logits.shape)
