# blind: fourteenth
import io

import jax
import jax.numpy as jnp
import numpy as np


def init_params(key, vocab=20, dim=8):
    k1, k2 = jax.random.split(key)
    return {
        "embed": 0.3 * jax.random.normal(k1, (vocab, dim)),
        "out": 0.3 * jax.random.normal(k2, (dim, vocab)),
    }


def save(params):
    buffer = io.BytesIO()
    np.savez(buffer, **{name: np.asarray(v) for name, v in params.items()})
    buffer.seek(0)
    return buffer


def restore(flat, dtype):
    return {name: jnp.asarray(value, dtype) for name, value in flat.items()}


@jax.jit
def perplexity(params, tokens):
    h = params["embed"][tokens[:, :-1]].cumsum(axis=1)
    logp = jax.nn.log_softmax(h @ params["out"])
    nll = -jnp.take_along_axis(logp, tokens[:, 1:, None], axis=-1)
    return jnp.exp(nll.mean())


class Evaluator:
    def __init__(self, checkpoint):
        self.flat = dict(np.load(checkpoint))

    def __call__(self, tokens):
        params = restore(self.flat, jnp.float32)
        return perplexity(params, tokens)


def main():
    params = init_params(jax.random.key(0))
    tokens = jax.random.randint(jax.random.key(1), (4, 12), 0, 20)
    before = perplexity(params, tokens)
    after = Evaluator(save(params))(tokens)
    print(f"before {before:.2f} after {after:.2f}")


if __name__ == "__main__":
    main()
