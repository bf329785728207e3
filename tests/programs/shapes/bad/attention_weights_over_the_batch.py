# blind: tenth
# missed: what an axis stands for is not asked

import jax
import jax.numpy as jnp


def pool(params, tokens):
    """Attention pooling: one weight for each token of a sequence."""
    batch, length, width = tokens.shape
    scores = (tokens @ params["query"]).reshape(batch, length)
    weights = jax.nn.softmax(scores, axis=0)  # finding
    return jnp.einsum("bl,bld->bd", weights, tokens)


def classify(params, tokens):
    return pool(params, tokens) @ params["out"]


k1, k2, k3 = jax.random.split(jax.random.key(1), 3)
params = {"query": jax.random.normal(k1, (32, 1)), "out": jax.random.normal(k2, (32, 5))}
tokens = jax.random.normal(k3, (4, 10, 32))
print(jax.jit(classify)(params, tokens).shape)
