# the data of each step is drawn from the same seed
import jax
import jax.numpy as jnp

data = jnp.arange(1000.0)


@jax.jit
def step(w, x, y):
    return w - 1e-3 * jax.grad(lambda w: jnp.mean((x * w - y) ** 2))(w)


def get_batch(source):
    start = jax.random.randint(jax.random.PRNGKey(0), (), 0, 900)  # finding
    return jax.lax.dynamic_slice(source, (start,), (8,)), jnp.ones(8)


def draw(key, source):
    start = jax.random.randint(key, (), 0, 900)
    return jax.lax.dynamic_slice(source, (start,), (8,)), jnp.ones(8)


def fixed_points():
    return jax.random.uniform(jax.random.key(3), (8,))


def by_index(index):
    noise = jax.random.normal(jax.random.key(index), (8,))
    return noise, jnp.ones(8)


w = jnp.ones(8)
for _ in range(5000):
    x, y = get_batch(data)
    w = step(w, x, y)

for _ in range(5000):
    x = jax.random.normal(jax.random.key(1), (8,))  # finding
    w = step(w, x, y)

key = jax.random.key(0)
for _ in range(5000):
    key, sub = jax.random.split(key)
    x, y = draw(sub, data)
    w = step(w, x, y)

points = fixed_points()
for _ in range(5000):
    w = step(w, points, y)
    print(jnp.sum(w * fixed_points()))

for index in range(5000):
    x, y = by_index(index)
    w = step(w, x, y)
