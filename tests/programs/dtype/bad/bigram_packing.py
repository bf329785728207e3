# source: jax-ml/jax#8604
# blind: nineteenth

import jax
import jax.numpy as jnp
import numpy as np

VOCAB = 50_257  # finding-also


@jax.jit
def pack_bigrams(tokens):
    left, right = tokens[:, :-1], tokens[:, 1:]
    return left * VOCAB + right  # finding


@jax.jit
def unpack(codes):
    return codes // VOCAB, codes % VOCAB


def bigram_counts(tokens):
    codes = pack_bigrams(tokens).ravel()
    uniq, counts = jnp.unique(codes, return_counts=True)
    order = jnp.argsort(-counts)
    return uniq[order], counts[order]


def zipf_corpus(seed, docs, length):
    rng = np.random.default_rng(seed)
    ranks = rng.zipf(1.3, size=(docs, length))
    ids = (ranks * 7919) % VOCAB
    return jnp.asarray(ids, dtype=jnp.int32)


def pointwise_mutual_information(tokens, top):
    uniq, counts = bigram_counts(tokens)
    uniq, counts = uniq[:top], counts[:top]
    first, second = unpack(uniq)
    unigram = jnp.bincount(tokens.ravel(), length=VOCAB)
    n_bi = tokens.shape[0] * (tokens.shape[1] - 1)
    n_uni = tokens.size
    joint = counts / n_bi
    indep = (unigram[first] / n_uni) * (unigram[second] / n_uni)
    return first, second, jnp.log(joint / indep)


def main():
    tokens = zipf_corpus(0, 64, 256)
    first, second, pmi = pointwise_mutual_information(tokens, 12)
    for a, b, s in zip(first.tolist(), second.tolist(), pmi.tolist()):
        print(f"({a:6d}, {b:6d}) pmi {s:.3f}")
    left, right = unpack(pack_bigrams(tokens))
    ok = (left == tokens[:, :-1]) & (right == tokens[:, 1:])
    print("pairs that survive a round trip:", float(ok.mean()))


if __name__ == "__main__":
    main()
