# source: jax-ml/jax#12575
# blind: second
# missed: advice alone: on some devices the product is meant

import jax
import jax.numpy as jnp
import optax

VOCAB = 50_000


def init(key, dim=32):
    k1, k2 = jax.random.split(key)
    return {
        "embed": 0.02 * jax.random.normal(k1, (VOCAB, dim)),
        "head": 0.02 * jax.random.normal(k2, (dim, VOCAB)),
    }


def embed(table, tokens):
    return jax.nn.one_hot(tokens, VOCAB) @ table  # finding


def cross_entropy(logits, targets):
    return optax.softmax_cross_entropy_with_integer_labels(logits, targets).mean()


def loss_fn(params, tokens):
    h = embed(params["embed"], tokens[:, :-1])
    return cross_entropy(jnp.tanh(h) @ params["head"], tokens[:, 1:])


@jax.jit
def step(params, tokens):
    loss, grads = jax.value_and_grad(loss_fn)(params, tokens)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads), loss


if __name__ == "__main__":
    tokens = jax.random.randint(jax.random.key(1), (2, 9), 0, VOCAB)
    print(step(init(jax.random.key(0)), tokens)[1])
