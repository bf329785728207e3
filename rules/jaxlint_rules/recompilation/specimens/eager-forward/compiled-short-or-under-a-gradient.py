# models that are compiled, that run a few times or now and then, that a gradient runs, or that initialize

import equinox as eqx
import flax.linen as nn
import jax
import jax.numpy as jnp


class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(10)(nn.relu(nn.Dense(64)(x)))


model = Net()
apply = jax.jit(model.apply)


@jax.jit
def predict(params, x):
    return model.apply(params, x).argmax(-1)


@eqx.filter_jit
def mapped(classifier, x):
    return jax.vmap(classifier)(x)


def loss(params, x):
    return jnp.mean(model.apply(params, x) ** 2)


def step(params, x):
    grads = jax.grad(loss)(params, x)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)


def show(params, x):
    print(model.apply(params, x))


def main(batches, settings):
    key = jax.random.key(0)
    x = jnp.ones((1, 8))
    params = model.init(key, x)
    classifier = eqx.nn.MLP(8, 2, 64, 2, key=key)
    for x in batches:
        print(predict(params, x), apply(params, x), mapped(classifier, x))
    for number, x in enumerate(batches):
        if number % 1000 == 0:
            print(model.apply(params, x))
    for _ in range(10):
        print(model.apply(params, x))
    for seed in settings:
        print(jax.tree.map(jnp.shape, model.init(jax.random.key(seed), x)))
    train = jax.jit(step)
    for x in batches:
        params = train(params, x)
    show(params, x)
    for layer in [eqx.nn.Linear(8, 8, key=key) for _ in range(64)]:
        x = layer(x[0])[None]
    return params, x


if __name__ == "__main__":
    from data import batches, settings

    main(batches, settings)
