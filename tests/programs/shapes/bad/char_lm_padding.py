# blind: twenty-first
# missed: how many rows a table has, which a vocabulary gives

import string

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax

ALPHABET = string.ascii_lowercase + " "
VOCAB = len(ALPHABET)  # finding-also
PAD = len(ALPHABET)  # finding-also
MAXLEN = 16


class CharLM(nn.Module):
    dim: int = 32

    @nn.compact
    def __call__(self, tokens):
        h = nn.Embed(num_embeddings=VOCAB, features=self.dim)(tokens)  # finding
        h = h + nn.gelu(nn.Dense(self.dim)(h))
        return nn.Dense(VOCAB)(h)


def encode(lines):
    out = np.full((len(lines), MAXLEN), PAD, np.int32)
    for row, text in enumerate(lines):
        ids = [ALPHABET.index(c) for c in text[:MAXLEN]]
        out[row, :len(ids)] = ids
    return out


def loss_fn(params, model, tokens):
    inputs, targets = tokens[:, :-1], tokens[:, 1:]
    logits = model.apply(params, inputs)
    mask = targets != PAD
    safe = jnp.where(mask, targets, 0)
    ce = optax.softmax_cross_entropy_with_integer_labels(logits, safe)
    return jnp.sum(ce * mask) / jnp.sum(mask)


def main():
    lines = ["the cat sat", "on the mat", "a longer sentence", "dog"]
    tokens = encode(lines)
    model = CharLM()
    params = model.init(jax.random.key(0), tokens[:, :-1])
    tx = optax.adam(1e-2)
    opt_state = tx.init(params)

    @jax.jit
    def step(params, opt_state):
        loss, grads = jax.value_and_grad(loss_fn)(params, model, tokens)
        updates, opt_state = tx.update(grads, opt_state)
        return optax.apply_updates(params, updates), opt_state, loss

    for _ in range(50):
        params, opt_state, loss = step(params, opt_state)
    print("loss", float(loss))


if __name__ == "__main__":
    main()
