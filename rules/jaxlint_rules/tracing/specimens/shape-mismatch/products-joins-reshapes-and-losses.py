# products, joins, reshapes and losses

import jax
import jax.numpy as jnp
import optax

params = {"w": jnp.zeros((128, 784)), "b": jnp.zeros(128)}

@jax.jit
def predict(params, x):
    return x @ params["w"] + params["b"]  # finding

predict(params, jnp.ones((32, 784)))

def fuse(audio, video):
    return jnp.concatenate([audio, video], axis=-1)  # finding

fuse(jnp.zeros((8, 100, 64)), jnp.zeros((8, 25, 512)))

def head(features):
    return features.reshape(features.shape[0], 7 * 7 * 32)  # finding

head(jnp.ones((16, 7, 7, 64)))

def smooth(signal):
    diff = signal[:, 1:] - signal[:, :-1]
    return signal + diff  # finding

smooth(jnp.ones((4, 16)))

logits = jax.random.normal(jax.random.key(0), (32, 100))
loss = optax.softmax_cross_entropy(logits, jax.nn.one_hot(jnp.arange(32), 10))  # finding
