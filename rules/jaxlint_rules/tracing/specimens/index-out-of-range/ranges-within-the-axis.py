# the same within their axes, bounds that are not reached, modes that say what is wanted
import jax
import jax.numpy as jnp
import optax

table = jnp.arange(1000.0)


@jax.jit
def lookup(key, x):
    t = jax.random.randint(key, (16,), 0, 1000)
    late = jax.random.randint(key, (16,), 0, 1001)
    near = jnp.clip(x.astype(jnp.int32), 0, 999)
    return table[t], jnp.take(table, late, mode="clip"), table[near], table[x % 2000], table[-t - 1]


@jax.jit
def choose(key, x):
    branch = jax.random.randint(key, (), 0, 2)
    return jax.lax.switch(branch, [jnp.sin, jnp.cos], x)


@jax.jit
def loss(logits, key):
    labels = jax.random.randint(key, (8,), 0, 5)
    padded = jax.random.randint(key, (8,), -1, 5)
    hot = jax.nn.one_hot(padded, 5)
    return optax.softmax_cross_entropy_with_integer_labels(logits, labels) + hot.sum(-1)


loss(jnp.zeros((8, 5)), jax.random.key(0))


@jax.jit
def fill(cache, row):
    def body(i, cache):
        return jax.lax.dynamic_update_slice(cache, row[None], (i, 0))

    return jax.lax.fori_loop(0, 64, body, cache)


fill(jnp.zeros((64, 8)), jnp.ones(8))


@jax.jit
def differences(x):
    def body(i, total):
        return total + x[i + 1] - x[i]

    return jax.lax.fori_loop(0, 63, body, 0.0)


differences(jnp.ones(64))


@jax.jit
def mark(key, q):
    explore = jax.random.bernoulli(key, 0.1)
    late = jax.random.randint(key, (), 0, 5)
    action = jnp.where(explore, jnp.minimum(late, 3), jnp.argmax(q))
    return q.at[action].add(1.0).at[late].add(1.0, mode="drop")


mark(jax.random.key(0), jnp.zeros(4))


@jax.jit
def positions(x, table):
    return table[jnp.arange(x.shape[0])]


positions(jnp.zeros(200), jnp.zeros((256, 8)))
