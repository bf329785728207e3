# transpositions, reshapes that undo others, equal orders, and softmax over the axis that is meant
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
    flat = path.reshape(-1)
    by_walker = path.swapaxes(0, 1).reshape(WALKERS, STEPS)
    return flat.reshape(STEPS, WALKERS) + path, by_walker.std(axis=1), path.reshape(STEPS, 3, 4)


def drawn(key):
    noise = jax.random.normal(key, (STEPS, WALKERS)).reshape(WALKERS, STEPS)
    grid = jnp.arange(STEPS * WALKERS).reshape(STEPS, WALKERS)
    return noise, grid, jnp.zeros((2, 3)).reshape(3, 2)


def flat(x):
    return x.reshape(WALKERS * STEPS, *x.shape[2:])


@jax.jit
def advantage(values, rewards):
    returns = jax.vmap(jnp.cumsum, in_axes=1, out_axes=1)(rewards)
    by_walker = flat(values.T) * flat(rewards.T)
    return jnp.mean((flat(values) - flat(returns)) ** 2) + by_walker.sum()


@jax.jit
def normalised(x):
    columns = x / x.sum(axis=0) + (x.T / x.sum(axis=1)).T
    rows = x - x.mean(axis=1, keepdims=True) + x / x.sum(axis=1)[:, None] + jnp.outer(x.sum(axis=1), x[0])
    squares = jnp.sum(x * x, axis=-1)
    return columns + rows, squares[:, None] + squares[None, :] - 2 * x @ x.T, x / x.max()


@jax.vmap
def of_a_row(row):
    return row / row.sum(axis=-1)


@jax.jit
def likelihood(w, x, y):
    logits = x @ w
    logp = jax.nn.log_softmax(logits)
    picked = jnp.take_along_axis(logp, y[:, None], axis=1) + logp[jnp.arange(x.shape[0]), y]
    return -picked.mean() - jnp.sum(jax.nn.one_hot(y, CLASSES) * logp)


@jax.jit
def classes_first(w, x, y):
    logp = jax.nn.log_softmax(w.T @ x.T, axis=0)
    one_hot = jax.nn.one_hot(y, CLASSES, axis=0)
    return -jnp.take_along_axis(logp, y[None, :], axis=0).mean() - jnp.sum(one_hot * logp)


@jax.jit
def contrastive(images, texts):
    logits = images @ texts.T
    labels = jnp.arange(len(images))
    rows = optax.softmax_cross_entropy_with_integer_labels(logits, labels)
    columns = jax.nn.log_softmax(logits, axis=0)[labels, labels]
    return rows.mean() - columns.mean()


@jax.jit
def dice(logits, masks):
    probs = jax.nn.softmax(logits)
    overlap = jnp.einsum("bhc,bhc->bc", probs, masks)
    return 1 - overlap.mean()


@jax.jit
def mixture(x, means):
    share = jax.nn.softmax(-((x[:, None] - means[None]) ** 2).sum(-1), axis=1)
    return jnp.einsum("nk,nd->kd", share, x) / share.sum(axis=0)[:, None]


def matched(one, two, pairs):
    scores = one @ two.T
    both = jax.nn.softmax(scores, axis=0) * jax.nn.softmax(scores, axis=1)
    return -jnp.log(jnp.take_along_axis(both, pairs[:, None], axis=1)).mean()


def tagged(w, x):
    scores = jnp.einsum("bqd,bkd->bqk", x, x)
    probs = jax.nn.softmax(scores, axis=-1)
    return jnp.einsum("bqk,bkd->bqd", probs, x) @ w


def weighted_tokens(w, v, x):
    """Each token counts by its score; the tokens stay."""
    weight = jax.nn.softmax(x @ v, axis=1)
    return (x * weight[:, :, None]) @ w


def bag(w, v, x):
    """One bag of instances, pooled."""
    weight = jax.nn.softmax(x @ v, axis=0)
    return (weight[:, None] * x).sum(axis=0) @ w


def main():
    key = jax.random.key(0)
    x, y = jax.random.normal(key, (32, 6)), jax.random.randint(key, (32,), 0, CLASSES)
    w, v = jnp.zeros((6, CLASSES)), jnp.zeros(6)
    chains(key), drawn(key), normalised(jnp.ones((9, 9))), of_a_row(jnp.ones((9, 9)))
    advantage(jax.random.normal(key, (STEPS, WALKERS)), jax.random.normal(key, (STEPS, WALKERS)))
    likelihood(w, x, y), classes_first(w, x, y), contrastive(x, x), mixture(x, x[:CLASSES])
    dice(jax.random.normal(key, (4, 9, CLASSES)), jnp.ones((4, 9, CLASSES)))
    matched(x, x[:20], y)
    tokens, tags = jax.random.normal(key, (32, 7, 6)), jax.random.randint(key, (32, 7), 0, CLASSES)
    loss = optax.softmax_cross_entropy_with_integer_labels
    print(loss(tagged(w, tokens), tags).mean(), loss(weighted_tokens(w, v, tokens), tags).mean())
    print(loss(jax.vmap(bag, (None, None, 0))(w, v, tokens), y).mean())


main()
