# blind: thirteenth

import jax
import jax.numpy as jnp


def dropout(key, x, rate):
    keep = jax.random.bernoulli(key, 1.0 - rate, x.shape)
    return jnp.where(keep, x / (1.0 - rate), 0.0)


def encode(params, key, sentence):
    h = params["embed"][sentence]
    h = dropout(key, h, 0.1)
    return jax.nn.relu(h @ params["w"]).mean(axis=0)


def batch_loss(params, key, sentences, labels):
    codes = jax.vmap(lambda s: encode(params, key, s))(sentences)  # finding
    logits = codes @ params["out"]
    picked = jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], axis=1)
    return -picked.mean()


@jax.jit  # finding-other
def update(params, key, sentences, labels):
    grads = jax.grad(batch_loss)(params, key, sentences, labels)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)


def fit(params, batches, seed):
    key = jax.random.key(seed)
    for sentences, labels in batches:
        key, sub = jax.random.split(key)
        params = update(params, sub, sentences, labels)
    return params
