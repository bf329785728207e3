# an epsilon, a bound inside or outside, other formulas, a count that is tested or starts at one
import jax
import jax.numpy as jnp


@jax.jit
def log_prob(x):
    action = jnp.tanh(x)
    scaled = jnp.tanh(jnp.clip(x, -5.0, 5.0))
    return (
        jnp.log(1 - action**2 + 1e-6)
        + jnp.log(1.01 - action)
        + jnp.log(1 - scaled**2)
        + jnp.arctanh(0.99 * action)
        + jnp.log(jnp.maximum(1 - action, 1e-6))
        + jnp.log(1 + jnp.exp(x))
        + 2 * (jnp.log(2.0) - x - jax.nn.softplus(-2 * x))
    )


@jax.jit
def mean_of_neighbours(messages, receivers):
    total = jax.ops.segment_sum(messages, receivers, 50)
    degree = jax.ops.segment_sum(jnp.ones(messages.shape[0]), receivers, 50)
    return total / jnp.maximum(degree, 1.0)[:, None], jnp.where(degree > 0, total[:, 0] / degree, 0.0)


def running_means(rewards):
    def body(carry, reward):
        total, count = carry
        seen = jnp.where(count > 0, total / count, 0.0)
        total, count = total + reward, count + 1
        return (total, count), seen + total / count

    return jax.lax.scan(body, (jnp.zeros(()), jnp.zeros(())), rewards)


def from_one(rewards):
    def body(carry, reward):
        total, count = carry
        return (total + reward, count + 1), total / count

    return jax.lax.scan(body, (jnp.zeros(()), jnp.ones(())), rewards)


def spread(x, y):
    mean = jnp.mean(x, axis=0)
    safe = jnp.sqrt(jnp.mean(x**2, axis=0) - mean**2 + 1e-5)
    return safe, jnp.sqrt(jnp.var(x, axis=0)), jnp.sqrt(jnp.mean(x**2) - jnp.mean(y) ** 2)


@jax.jit
def losses(log_std, error, probability):
    return error / jnp.exp(log_std) + error / jax.nn.softmax(error) + jnp.log(probability)


def iterate(matrix, vector):
    def goes_on(carry):
        vector, value, change, step = carry
        return (jnp.abs(change / value) > 1e-3) & (step < 50)

    def body(carry):
        vector, value, _, step = carry
        product = matrix @ vector
        new = jnp.max(jnp.abs(product))
        return product / new, new, new - value, step + 1

    return jax.lax.while_loop(goes_on, body, (vector, jnp.zeros(()), jnp.ones(()), 0))


@jax.jit
def centred(x, ids):
    count = jax.ops.segment_sum(jnp.ones(x.shape[0]), ids, 8)
    mean = jax.ops.segment_sum(x, ids, 8) / count
    return x - mean[ids]


@jax.jit
def velocity(clean, x, floor):
    return clean / jnp.clip(1 - jax.nn.sigmoid(x), floor, 1.0)
