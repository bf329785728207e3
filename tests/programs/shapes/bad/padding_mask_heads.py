# source: phlippe/uvadlc_notebooks#67
# blind: nineteenth
# missed: a batch axis that lines up with the heads

import jax
import jax.numpy as jnp


def init_block(key, dim, heads):
    kq, kk, kv, ko = jax.random.split(key, 4)
    scale = dim ** -0.5
    return {
        "q": jax.random.normal(kq, (dim, heads, dim // heads)) * scale,
        "k": jax.random.normal(kk, (dim, heads, dim // heads)) * scale,
        "v": jax.random.normal(kv, (dim, heads, dim // heads)) * scale,
        "o": jax.random.normal(ko, (heads, dim // heads, dim)) * scale,
    }


@jax.jit
def self_attention(params, x, lengths):
    q = jnp.einsum("btd,dhk->bhtk", x, params["q"])
    k = jnp.einsum("btd,dhk->bhtk", x, params["k"])
    v = jnp.einsum("btd,dhk->bhtk", x, params["v"])
    logits = jnp.einsum("bhqd,bhkd->bhqk", q, k) * q.shape[-1] ** -0.5
    valid = jnp.arange(x.shape[1])[None, :] < lengths[:, None]  # finding-also
    logits = jnp.where(valid[:, None, :], logits, -1e30)  # finding
    probs = jax.nn.softmax(logits, axis=-1)
    out = jnp.einsum("bhqk,bhkd->bhqd", probs, v)
    return jnp.einsum("bhtk,hkd->btd", out, params["o"])


def sentence_embedding(params, tokens, table, lengths):
    h = self_attention(params, table[tokens], lengths)
    keep = (jnp.arange(tokens.shape[1]) < lengths[:, None])[..., None]
    return jnp.sum(h * keep, axis=1) / lengths[:, None]


def main():
    batch, heads, seq, dim, vocab = 8, 8, 12, 64, 100
    k_tok, k_tab, k_par, k_pad = jax.random.split(jax.random.key(0), 4)
    tokens = jax.random.randint(k_tok, (batch, seq), 1, vocab)
    lengths = jnp.array([12, 3, 7, 5, 9, 4, 6, 8])
    table = jax.random.normal(k_tab, (vocab, dim))
    params = init_block(k_par, dim, heads)

    a = sentence_embedding(params, tokens, table, lengths)
    junk = jax.random.randint(k_pad, tokens.shape, 1, vocab)
    keep = jnp.arange(seq) < lengths[:, None]
    b = sentence_embedding(params, jnp.where(keep, tokens, junk), table, lengths)
    print("change when only padding changes:", float(jnp.max(jnp.abs(a - b))))


if __name__ == "__main__":
    main()
