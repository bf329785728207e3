# source: jax-ml/jax#4085
# blind: second

import haiku as hk
import jax
import jax.numpy as jnp
import optax


def forward(x):
    h = hk.Linear(64)(x)
    h = hk.LayerNorm(-1, True, True)(jax.nn.relu(h))
    return hk.Linear(1)(h)[:, 0]


model = hk.without_apply_rng(hk.transform(forward))


def loss(params, x, y):
    return jnp.mean(optax.huber_loss(model.apply(params, x), y))


def sgd(params, grads, rate):
    return jax.tree.map(lambda p, g: p - rate * g, params, grads)


@jax.jit  # finding-other
def step(params, x, y, rate):
    return sgd(params, jax.grad(loss)(params, x, y), rate)


def train(params, batches, rate=1e-2):
    for x, y in batches:
        params = step(params, x, y, rate)
    return params


def main():
    xs = jax.random.normal(jax.random.key(0), (20, 16, 5))
    params = model.init(jax.random.key(1), xs[0])
    print(hk.data_structures.tree_size(train(params, [(x, x[:, 0]) for x in xs])))


if __name__ == "__main__":
    main()
