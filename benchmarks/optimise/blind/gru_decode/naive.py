import string

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


def generate(params, key, prompt, length, k=8, temperature=0.8):
    h = jnp.zeros(HIDDEN)
    for ch in prompt:
        h, logits = predict(params, h, VOCABULARY.index(ch))
    text = prompt
    log_prob = 0.0
    for _ in range(length):
        key, sub = jax.random.split(key)
        token = int(top_k_sample(sub, logits, k, temperature))
        log_prob += float(jax.nn.log_softmax(logits)[token])
        text += VOCABULARY[token]
        h, logits = predict(params, h, token)
    return text, log_prob


def main():
    params = init_params(jax.random.PRNGKey(0))
    for i, prompt in enumerate(["the ", "once upon", "a.", "hello w"]):
        text, log_prob = generate(params, jax.random.PRNGKey(i), prompt, 150)
        print(f"{len(text)} {text[:40]!r} log prob {log_prob:.2f}")


if __name__ == "__main__":
    main()
