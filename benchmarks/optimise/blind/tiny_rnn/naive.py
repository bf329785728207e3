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


class Embedding:
    def __init__(self, key, vocab, dim):
        self.params = {"table": 0.3 * jax.random.normal(key, (vocab, dim))}

    def __call__(self, params, token):
        return params["table"][token]


class GRUCell:
    def __init__(self, key, n_in, n_hidden):
        k1, k2 = jax.random.split(key)
        scale = 1.0 / np.sqrt(n_hidden)
        self.n_hidden = n_hidden
        self.params = {
            "wx": scale * jax.random.normal(k1, (n_in, 3 * n_hidden)),
            "wh": scale * jax.random.normal(k2, (n_hidden, 3 * n_hidden)),
            "b": jnp.zeros(3 * n_hidden),
        }

    def __call__(self, params, h, x):
        gx = x @ params["wx"] + params["b"]
        gh = h @ params["wh"]
        rx, zx, nx = jnp.split(gx, 3, axis=-1)
        rh, zh, nh = jnp.split(gh, 3, axis=-1)
        r = jax.nn.sigmoid(rx + rh)
        z = jax.nn.sigmoid(zx + zh)
        n = jnp.tanh(nx + r * nh)
        return (1 - z) * n + z * h


class Readout:
    def __init__(self, key, n_hidden, vocab):
        self.params = {"w": jax.random.normal(key, (n_hidden, vocab)) / np.sqrt(n_hidden), "b": jnp.zeros(vocab)}

    def __call__(self, params, h):
        return h @ params["w"] + params["b"]


class CharModel:
    def __init__(self, key):
        k1, k2, k3 = jax.random.split(key, 3)
        self.embed = Embedding(k1, len(VOCAB), 16)
        self.cell = GRUCell(k2, 16, HIDDEN)
        self.readout = Readout(k3, HIDDEN, len(VOCAB))
        self.params = [self.embed.params, self.cell.params, self.readout.params]

    def logits(self, params, tokens):
        h = jnp.zeros((tokens.shape[0], HIDDEN))
        out = []
        for t in range(tokens.shape[1]):
            h = self.cell(params[1], h, self.embed(params[0], tokens[:, t]))
            out.append(self.readout(params[2], h))
        return jnp.stack(out, axis=1)

    def loss(self, params, tokens):
        logp = jax.nn.log_softmax(self.logits(params, tokens[:, :-1]))
        picked = jnp.take_along_axis(logp, tokens[:, 1:, None], axis=-1)
        return -jnp.mean(picked)

    def complete(self, prompt):
        """Greedy continuation up to the first dot."""
        h = jnp.zeros(HIDDEN)
        for c in prompt:
            h = self.cell(self.params[1], h, self.embed(self.params[0], STOI[c]))
        text = prompt
        while len(text) < LENGTH:
            c = VOCAB[int(jnp.argmax(self.readout(self.params[2], h)))]
            text += c
            if c == ".":
                break
            h = self.cell(self.params[1], h, self.embed(self.params[0], STOI[c]))
        return text.rstrip(".")

    def sample(self, key, temperature):
        h = jnp.zeros(HIDDEN)
        text = "^"
        for _ in range(LENGTH - 1):
            h = self.cell(self.params[1], h, self.embed(self.params[0], STOI[text[-1]]))
            key, k = jax.random.split(key)
            text += VOCAB[int(jax.random.categorical(k, self.readout(self.params[2], h) / temperature))]
        return text


class Adam:
    def __init__(self, params, lr):
        self.lr, self.t = lr, 0
        self.m = jax.tree_util.tree_map(jnp.zeros_like, params)
        self.v = jax.tree_util.tree_map(jnp.zeros_like, params)

    def step(self, params, grads):
        self.t += 1
        self.m = jax.tree_util.tree_map(lambda m, g: 0.9 * m + 0.1 * g, self.m, grads)
        self.v = jax.tree_util.tree_map(lambda v, g: 0.99 * v + 0.01 * g**2, self.v, grads)
        c1, c2 = 1 - 0.9**self.t, 1 - 0.99**self.t
        return jax.tree_util.tree_map(
            lambda p, m, v: p - self.lr * (m / c1) / (jnp.sqrt(v / c2) + 1e-8), params, self.m, self.v
        )


model = CharModel(jax.random.PRNGKey(0))
optimizer = Adam(model.params, lr=0.01)
data = np.stack([encode(s) for s in make_strings(1024, seed=1)])
grad_fn = jax.jit(jax.value_and_grad(model.loss))
rng = np.random.default_rng(2)
losses = []
for step in range(480):
    batch = data[rng.integers(0, len(data), size=64)]
    loss, grads = grad_fn(model.params, batch)
    model.params = optimizer.step(model.params, grads)
    losses.append(float(loss))
    if (step + 1) % 120 == 0:
        print(f"step {step + 1}: loss {np.mean(losses[-120:]):.3g}")

hits = [model.complete(s[:5]) == s.rstrip(".") for s in make_strings(40, seed=5)]
print(f"completed correctly: {np.mean(hits):.3g}")
for temperature in [0.5, 1.0]:
    texts = [model.sample(jax.random.PRNGKey(i), temperature) for i in range(16)]
    valid = [t[2:3] == "+" and t[4:5] == "=" and t.endswith("....") for t in texts]
    print(f"temperature {temperature}: well formed {np.mean(valid):.3g}, distinct {len(set(texts))}")
