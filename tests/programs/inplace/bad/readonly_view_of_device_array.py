# source: jax-ml/jax#101

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def predict(params, x):
    return jax.nn.softmax(jnp.tanh(x @ params["w1"]) @ params["w2"])


def suppress_background(probabilities, threshold):
    scores = np.asarray(probabilities)
    scores[scores < threshold] = 0.0  # finding
    return scores


def evaluate(params, batches):
    out = []
    for x in batches:
        out.append(suppress_background(predict(params, x), 0.2))
    return np.concatenate(out)


params = {"w1": jnp.ones((4, 8)), "w2": jnp.eye(8)[:, :3]}
print(evaluate(params, [jnp.ones((2, 4)), jnp.zeros((3, 4))]).shape)
