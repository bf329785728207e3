# halves of one split, layers whose weights are drawn anew, layers in the mode of inference, losses of one step

import equinox as eqx
import jax
import jax.numpy as jnp


def halves(key, n):
    first = jax.random.split(jax.random.split(key)[0], n)
    second = jax.random.split(jax.random.split(key)[1], n)
    return jax.vmap(jax.random.normal)(first), jax.vmap(jax.random.normal)(second)


def init_linear(linear, key):
    return eqx.tree_at(lambda l: l.weight, linear, 0.1 * jax.random.normal(key, linear.weight.shape))


class Head(eqx.Module):
    linear: eqx.nn.Linear

    def __init__(self, key):
        self.linear = init_linear(eqx.nn.Linear(3, 4, key=key), key)


def evaluate(model, tokens, key):
    features = model.features(tokens, key=key, inference=True)
    return features, model(tokens, key=key, inference=True)


def draws(model, tokens, key):
    first = model(tokens, key=key, mask=None)
    return first, model(first, key=key, mask=None)  # finding


def compute_loss(params, key):
    return jnp.sum((params + jax.random.normal(key, params.shape)) ** 2)


def step(params, opt, opt_state, key):
    def loss_fn(p):
        return compute_loss(p, key)

    def value_fn(p):
        return compute_loss(p, key)

    loss, grads = jax.value_and_grad(loss_fn)(params)
    return opt.update(grads, opt_state, params, value=value_fn(params), grad=grads)


def the_same_half(key):
    a = jax.random.split(key)[0]
    b = jax.random.split(key)[0]  # finding
    return jax.random.normal(a), jax.random.normal(b)


halves(jax.random.key(0), 3)
Head(jax.random.key(1))
draws(eqx.nn.Dropout(0.5), jnp.ones(3), jax.random.key(2))
