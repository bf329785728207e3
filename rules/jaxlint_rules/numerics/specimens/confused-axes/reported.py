# reshapes that should transpose, arrays flattened in two orders, and softmax over another axis than the labels
import haiku as hk
import jax
import jax.numpy as jnp
import optax

WALKERS, STEPS, CLASSES = 12, 40, 5


@jax.jit
def chains(key):
    def step(position, key):
        position = position + jax.random.normal(key, position.shape)
        return position, position

    _, path = jax.lax.scan(step, jnp.zeros(WALKERS), jax.random.split(key, STEPS))
    return path.reshape(WALKERS, STEPS).std(axis=1)  # finding


@jax.jit
def batch_first(x):
    time, batch, features = x.shape
    return jnp.tanh(x).reshape(batch, time, features).mean(axis=1)  # finding


def flat(x):
    return x.reshape(WALKERS * STEPS, *x.shape[2:])  # finding


@jax.jit
def advantage(values, rewards):
    """Values are (steps, walkers), and the returns of each walker are a row."""
    returns = jax.vmap(jnp.cumsum, in_axes=1)(rewards)
    return jnp.mean((flat(values) - flat(returns)) ** 2)


@jax.jit
def transitions(counts):
    return counts / counts.sum(axis=1)  # finding


@jax.jit
def normalised(x):
    return x / (jnp.sqrt(jnp.sum(x * x, axis=-1)) + 1e-6)  # finding


@jax.jit
def likelihood(w, x, y):
    logp = jax.nn.log_softmax(x @ w, axis=0)  # finding
    return -jnp.take_along_axis(logp, y[:, None], axis=1).mean()


@jax.jit
def likelihood_of_rows(w, x, y):
    logp = jax.nn.log_softmax(x @ w, axis=0)  # finding
    return -logp[jnp.arange(x.shape[0]), y].mean()


@jax.jit
def smoothed(w, x, y):
    logits = x @ w
    return -jnp.sum(jax.nn.one_hot(y, CLASSES) * jax.nn.log_softmax(logits, axis=0)) / len(x)  # finding


def forward(tokens):
    score = hk.Linear(1)(tokens).squeeze(-1)
    weight = jax.nn.softmax(score, axis=0)  # finding
    return hk.Linear(CLASSES)(jnp.einsum("bt,btd->bd", weight, tokens))


net = hk.without_apply_rng(hk.transform(forward))


@jax.jit
def pooled_loss(params, tokens, y):
    def loss(params):
        return optax.softmax_cross_entropy_with_integer_labels(net.apply(params, tokens), y).mean()

    return jax.grad(loss)(params)


def tagged(w, x):
    scores = jnp.einsum("bqd,bkd->bqk", x, x)
    probs = jax.nn.softmax(scores, axis=1)  # finding
    return jnp.einsum("bqk,bkd->bqd", probs, x) @ w


def main():
    key = jax.random.key(0)
    x, y = jax.random.normal(key, (32, 6)), jax.random.randint(key, (32,), 0, CLASSES)
    w = jnp.zeros((6, CLASSES))
    chains(key), batch_first(jax.random.normal(key, (40, 12, 3)))
    advantage(jax.random.normal(key, (STEPS, WALKERS)), jax.random.normal(key, (STEPS, WALKERS)))
    transitions(jnp.ones((9, 9))), normalised(jnp.ones((9, 9)))
    likelihood(w, x, y), likelihood_of_rows(w, x, y), smoothed(w, x, y)
    tokens = jax.random.normal(key, (32, 7, 6))
    pooled_loss(net.init(key, tokens), tokens, y)
    tags = jax.random.randint(key, (32, 7), 0, CLASSES)
    print(optax.softmax_cross_entropy_with_integer_labels(tagged(w, tokens), tags).mean())


main()
