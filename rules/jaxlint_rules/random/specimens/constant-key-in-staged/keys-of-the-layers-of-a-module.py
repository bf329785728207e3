# keys of the layers of a module

import flax.linen as nn
import jax
import jax.numpy as jnp

class Net(nn.Module):
    @nn.compact
    def __call__(self, x, train):
        return nn.Dropout(0.5, deterministic=not train)(nn.Dense(3)(x))

def main(x):
    model = Net()
    init_key, dropout_key = jax.random.split(jax.random.key(0))
    params = model.init(init_key, x, train=False)

    def loss(params, x):
        return model.apply(params, x, train=True, rngs={"dropout": dropout_key}).sum()  # finding

    def fresh(params, x, key):
        return model.apply(params, x, train=True, rngs={"dropout": key}).sum()

    @jax.jit
    def step(params, x, key):
        grads = jax.grad(lambda p: loss(p, x) + fresh(p, x, key))(params)
        return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)

    @jax.jit
    def evaluate(params, x):
        return model.apply(params, x, train=False, rngs={"dropout": dropout_key})

    for i in range(10):
        params = step(params, x, jax.random.fold_in(init_key, i))
    return evaluate(params, x)

main(jnp.ones((2, 3)))
