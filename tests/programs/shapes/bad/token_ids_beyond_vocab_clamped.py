# source: jax-ml/jax#3774
# blind: eighteenth

import jax
import jax.numpy as jnp
import numpy as np

VOCAB = 26
SPECIAL = {"<pad>": 26, "<bos>": 27, "<eos>": 28}  # finding-also


def encode(text, length):
    ids = [SPECIAL["<bos>"]] + [ord(c) - 97 for c in text if c.isalpha()] + [SPECIAL["<eos>"]]
    ids = ids[:length] + [SPECIAL["<pad>"]] * (length - len(ids))
    return np.array(ids, dtype=np.int32)


def init(key, dim=8):
    k_emb, k_out = jax.random.split(key)
    return {
        "embed": 0.02 * jax.random.normal(k_emb, (VOCAB, dim)),  # finding-also
        "out": 0.02 * jax.random.normal(k_out, (dim, VOCAB + 3)),
    }


def embed(params, ids):
    return params["embed"][ids]  # finding


@jax.jit
def next_token_logits(params, ids):
    h = embed(params, ids)
    mask = (ids != SPECIAL["<pad>"])[..., None]
    pooled = (h * mask).sum(1) / mask.sum(1)
    return pooled @ params["out"]


def main():
    params = init(jax.random.key(0))
    ids = jnp.asarray(np.stack([encode("hello", 10), encode("jax", 10)]))
    print(next_token_logits(params, ids).shape)
    print("bos == eos == z:", jnp.array_equal(embed(params, ids[0, 0]), params["embed"][25]))


if __name__ == "__main__":
    main()
