# After haiku's examples/rnn_shakespeare.py and flax' decoding loops: lax.scan over the tokens, text is made once at the end.
import string
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

VOCABULARY = string.ascii_lowercase + " .,"
HIDDEN = 96


def init_params(key):
    shapes = {"embed": (len(VOCABULARY), 48), "out": (HIDDEN, len(VOCABULARY))}
    for gate in ("z", "r", "n"):
        shapes[f"w_{gate}"] = (48, HIDDEN)
        shapes[f"u_{gate}"] = (HIDDEN, HIDDEN)
    params = {}
    for name, shape in sorted(shapes.items()):
        key, sub = jax.random.split(key)
        params[name] = jax.random.normal(sub, shape) / np.sqrt(shape[0])
    return params


def gru(params, h, x):
    z = jax.nn.sigmoid(x @ params["w_z"] + h @ params["u_z"])
    r = jax.nn.sigmoid(x @ params["w_r"] + h @ params["u_r"])
    n = jnp.tanh(x @ params["w_n"] + (r * h) @ params["u_n"])
    return (1 - z) * n + z * h


@jax.jit
def predict(params, h, token):
    h = gru(params, h, params["embed"][token])
    return h, h @ params["out"] * 4


def top_k_sample(key, logits, k, temperature):
    values, indices = jax.lax.top_k(logits / temperature, k)
    choice = jax.random.categorical(key, values)
    return indices[choice]


@partial(jax.jit, static_argnums=(4, 5))
def sample(params, key, h, logits, length, k, temperature):
    def step(carry, _):
        key, h, logits = carry
        key, sub = jax.random.split(key)
        token = top_k_sample(sub, logits, k, temperature)
        log_prob = jax.nn.log_softmax(logits)[token]
        h, logits = predict(params, h, token)
        return (key, h, logits), (token, log_prob)

    return jax.lax.scan(step, (key, h, logits), None, length)[1]


def generate(params, key, prompt, length, k=8, temperature=0.8):
    h = jnp.zeros(HIDDEN)
    for ch in prompt:
        h, logits = predict(params, h, VOCABULARY.index(ch))
    tokens, log_probs = sample(params, key, h, logits, length, k, temperature)
    text = prompt + "".join(VOCABULARY[token] for token in np.asarray(tokens))
    return text, float(log_probs.sum())


def main():
    params = init_params(jax.random.PRNGKey(0))
    for i, prompt in enumerate(["the ", "once upon", "a.", "hello w"]):
        text, log_prob = generate(params, jax.random.PRNGKey(i), prompt, 150)
        print(f"{len(text)} {text[:40]!r} log prob {log_prob:.2f}")


if __name__ == "__main__":
    main()
