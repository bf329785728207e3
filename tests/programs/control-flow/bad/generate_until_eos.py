# source: jax-ml/jax#3106
# blind: twenty-first

import jax
import jax.numpy as jnp

VOCAB = 40
EOS = 0
MAX_NEW = 24


def init(key, dim=32):
    k1, k2, k3 = jax.random.split(key, 3)
    return {
        "embed": jax.random.normal(k1, (VOCAB, dim)),
        "mix": jax.random.normal(k2, (3 * dim, dim)) / 10.0,
        "out": jax.random.normal(k3, (dim, VOCAB)) / 3.0,
    }


def next_logits(params, tokens):
    window = params["embed"][tokens[:, -3:]]
    hidden = jnp.tanh(window.reshape(tokens.shape[0], -1) @ params["mix"])
    return hidden @ params["out"]


def sample_token(key, logits, temperature):
    return jax.random.categorical(key, logits / temperature, axis=-1)


def generate(params, prompt, key, temperature=0.8):
    done = jnp.zeros((prompt.shape[0],), bool)
    pos = jnp.asarray(prompt.shape[1])
    stop = prompt.shape[1] + MAX_NEW

    def cond(carry):
        tokens, done, pos, key = carry
        return (pos < stop) & ~jnp.all(done)

    def body(carry):
        tokens, done, pos, key = carry
        key, sub = jax.random.split(key)
        logits = next_logits(params, tokens)
        nxt = jnp.where(done, EOS, sample_token(sub, logits, temperature))
        tokens = jnp.concatenate([tokens, nxt[:, None]], axis=1)  # finding
        return tokens, done | (nxt == EOS), pos + 1, key

    tokens, done, pos, _ = jax.lax.while_loop(cond, body, (prompt, done, pos, key))  # finding-also
    return tokens, pos


def main():
    params = init(jax.random.key(0))
    prompt = jnp.array([[5, 9, 3], [7, 7, 1]])
    tokens, pos = jax.jit(generate)(params, prompt, jax.random.key(1))
    print(tokens.shape, "stopped at", int(pos))


if __name__ == "__main__":
    main()
