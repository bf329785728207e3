# source: jax-ml/jax#4085
# blind: second

import haiku as hk
import jax
import jax.numpy as jnp


def forward(x):
    h = hk.Linear(64)(x)
    h = hk.LayerNorm(-1, True, True)(jax.nn.relu(h))
    return hk.Linear(1)(h)[:, 0]


model = hk.without_apply_rng(hk.transform(forward))


@jax.jit
def loss(params, x, y):
    return jnp.mean(optax_huber(model.apply(params, x) - y))


def optax_huber(residual, delta=1.0):
    size = jnp.abs(residual)
    small = jnp.minimum(size, delta)
    return 0.5 * small**2 + delta * (size - small)


def sgd(params, grads, rate):
    return jax.tree.map(lambda p, g: p - rate * g, params, grads)


def train(params, batches, rate=1e-2):
    for x, y in batches:
        grads = jax.grad(loss)(params, x, y)  # finding
        params = sgd(params, grads, rate)  # finding-also
    return params


def main():
    xs = jax.random.normal(jax.random.key(0), (20, 16, 5))
    params = model.init(jax.random.key(1), xs[0])
    print(hk.data_structures.tree_size(train(params, [(x, x[:, 0]) for x in xs])))


if __name__ == "__main__":
    main()
