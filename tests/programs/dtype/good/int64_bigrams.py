# blind: nineteenth

import jax

jax.config.update("jax_enable_x64", True)

import jax.numpy as jnp
import numpy as np

VOCAB = 50_257


@jax.jit
def pack(tokens):
    left = tokens[:, :-1].astype(jnp.int64)
    right = tokens[:, 1:].astype(jnp.int64)
    return left * VOCAB + right


@jax.jit
def unpack(codes):
    return codes // VOCAB, codes % VOCAB


def corpus(seed, docs, length):
    rng = np.random.default_rng(seed)
    ids = (rng.zipf(1.3, size=(docs, length)) * 7919) % VOCAB
    return jnp.asarray(ids, dtype=jnp.int32)


def main():
    tokens = corpus(0, 32, 128)
    codes = pack(tokens)
    left, right = unpack(codes)
    ok = (left == tokens[:, :-1]) & (right == tokens[:, 1:])
    uniq, counts = jnp.unique(codes.ravel(), return_counts=True)
    print("round trip", float(ok.mean()), "distinct bigrams", uniq.shape[0], "max count", int(counts.max()))


if __name__ == "__main__":
    main()
