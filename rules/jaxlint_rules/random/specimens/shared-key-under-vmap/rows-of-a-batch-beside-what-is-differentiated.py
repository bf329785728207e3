# rows of a batch beside what is differentiated, and settings that are compared

import jax
import jax.numpy as jnp

def dropout(key, x, rate):
    keep = jax.random.bernoulli(key, 1.0 - rate, x.shape)
    return jnp.where(keep, x / (1.0 - rate), 0.0)

def encode(params, key, sentence):
    hidden = dropout(key, params["embed"][sentence], 0.1)
    return jax.nn.relu(hidden @ params["w"]).mean(axis=0)

def batch_loss(params, key, sentences):
    codes = jax.vmap(lambda s: encode(params, key, s))(sentences)  # finding
    return jnp.mean(codes**2)

def own_keys(params, key, sentences):
    keys = jax.random.split(key, sentences.shape[0])
    codes = jax.vmap(lambda k, s: encode(params, k, s))(keys, sentences)
    return jnp.mean(codes**2)

def rollout(theta, key, noise):
    return jnp.sum(theta * jax.random.normal(key, theta.shape)) + noise

def evolution(theta, key, noises):
    return jax.vmap(lambda noise: rollout(theta + noise, key, 0.0))(noises).mean()

def members(thetas, key):
    return jnp.mean(jax.vmap(lambda theta: rollout(theta, key, 0.0))(thetas))

@jax.jit
def update(params, key, sentences):
    return jax.grad(batch_loss)(params, key, sentences), jax.grad(own_keys)(params, key, sentences)

params = {"embed": jnp.ones((10, 4)), "w": jnp.ones((4, 4))}
update(params, jax.random.key(0), jnp.zeros((3, 5), jnp.int32))
evolution(jnp.ones(3), jax.random.key(1), jnp.ones((8, 3)))
jax.grad(members)(jnp.ones((8, 3)), jax.random.key(2))
