"""A character GRU written by hand: learns arithmetic-like strings, then completes and samples them."""
import jax
import jax.numpy as jnp
import numpy as np

VOCAB = "0123456789+=.^"
STOI = {c: i for i, c in enumerate(VOCAB)}
LENGTH = 10
HIDDEN = 48


def make_strings(n, seed):
    rng = np.random.default_rng(seed)
    out = []
    for _ in range(n):
        a, b = rng.integers(0, 10, size=2)
        out.append(f"^{a}+{b}={(a + b) % 10}" + "." * (LENGTH - 6))
    return out


def encode(text):
    return np.array([STOI[c] for c in text], dtype=np.int32)


def init_params(key):
    k1, k2, k3 = jax.random.split(key, 3)
    kx, kh = jax.random.split(k2)
    scale, vocab = 1.0 / np.sqrt(HIDDEN), len(VOCAB)
    return {
        "table": 0.3 * jax.random.normal(k1, (vocab, 16)),
        "wx": scale * jax.random.normal(kx, (16, 3 * HIDDEN)),
        "wh": scale * jax.random.normal(kh, (HIDDEN, 3 * HIDDEN)),
        "b": jnp.zeros(3 * HIDDEN),
        "w_out": jax.random.normal(k3, (HIDDEN, vocab)) / np.sqrt(HIDDEN),
        "b_out": jnp.zeros(vocab),
    }


def project(params, tokens):
    return params["table"][tokens] @ params["wx"] + params["b"]


def cell(params, h, gx):
    rx, zx, nx = jnp.split(gx, 3, axis=-1)
    rh, zh, nh = jnp.split(h @ params["wh"], 3, axis=-1)
    r = jax.nn.sigmoid(rx + rh)
    z = jax.nn.sigmoid(zx + zh)
    n = jnp.tanh(nx + r * nh)
    return (1 - z) * n + z * h


def readout(params, h):
    return h @ params["w_out"] + params["b_out"]


def run_cell(params, tokens):
    """Hidden states (time, batch, hidden) of tokens (batch, time)."""

    def step(h, gx):
        h = cell(params, h, gx)
        return h, h

    return jax.lax.scan(step, jnp.zeros((tokens.shape[0], HIDDEN)), project(params, tokens.T))[1]


def loss_fn(params, tokens):
    logp = jax.nn.log_softmax(readout(params, run_cell(params, tokens[:, :-1])))
    return -jnp.mean(jnp.take_along_axis(logp, tokens[:, 1:].T[..., None], axis=-1))


def adam_step(carry, batch):
    params, m, v, t = carry
    loss, grads = jax.value_and_grad(loss_fn)(params, batch)
    t = t + 1
    m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, m, grads)
    v = jax.tree.map(lambda v, g: 0.99 * v + 0.01 * g**2, v, grads)
    c1, c2 = 1 - 0.9**t, 1 - 0.99**t
    params = jax.tree.map(lambda p, m, v: p - 0.01 * (m / c1) / (jnp.sqrt(v / c2) + 1e-8), params, m, v)
    return (params, m, v, t), loss


@jax.jit
def train(key, data, indices):
    params = init_params(key)
    zeros = jax.tree.map(jnp.zeros_like, params)
    start = (params, zeros, zeros, jnp.zeros(()))
    (params, *_), losses = jax.lax.scan(lambda c, idx: adam_step(c, data[idx]), start, indices)
    return params, losses.reshape(-1, 120).mean(1)


@jax.jit
def complete(params, prompts):
    """Greedy continuations of all prompts at once, to LENGTH characters; what follows a dot is dropped."""

    def step(h, _):
        token = jnp.argmax(readout(params, h), axis=-1)
        return cell(params, h, project(params, token)), token

    tokens = jax.lax.scan(step, run_cell(params, prompts)[-1], None, length=LENGTH - prompts.shape[1])[1]
    return jnp.concatenate([prompts, tokens.T], axis=1)


@jax.jit
def sample(params, keys, temperature):
    def one(key):
        def step(carry, _):
            h, token, key = carry
            h = cell(params, h, project(params, token))
            key, k = jax.random.split(key)
            token = jax.random.categorical(k, readout(params, h) / temperature)
            return (h, token, key), token

        start = (jnp.zeros(HIDDEN), jnp.array(STOI["^"]), key)
        return jax.lax.scan(step, start, None, length=LENGTH - 1)[1]

    return jax.vmap(one)(keys)


def decode(tokens):
    return ["".join(VOCAB[i] for i in row) for row in np.asarray(tokens)]


data = np.stack([encode(s) for s in make_strings(1024, seed=1)])
rng = np.random.default_rng(2)
indices = np.stack([rng.integers(0, len(data), size=64) for _ in range(480)])
params, losses = train(jax.random.PRNGKey(0), data, indices)
for i, loss in enumerate(np.asarray(losses)):
    print(f"step {120 * (i + 1)}: loss {loss:.3g}")

tests = make_strings(40, seed=5)
texts = decode(complete(params, np.stack([encode(s[:5]) for s in tests])))
hits = [t.split(".")[0] == s.rstrip(".") for t, s in zip(texts, tests)]
print(f"completed correctly: {np.mean(hits):.3g}")
keys = jnp.stack([jax.random.PRNGKey(i) for i in range(16)])
for temperature in [0.5, 1.0]:
    texts = ["^" + t for t in decode(sample(params, keys, temperature))]
    valid = [t[2:3] == "+" and t[4:5] == "=" and t.endswith("....") for t in texts]
    print(f"temperature {temperature}: well formed {np.mean(valid):.3g}, distinct {len(set(texts))}")
