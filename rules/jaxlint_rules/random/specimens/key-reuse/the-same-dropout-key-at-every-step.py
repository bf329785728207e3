# the same dropout key at every step

import flax.linen as nn
import jax

model = nn.Dropout(0.5, deterministic=False)

@jax.jit
def step(params, batch, key):
    return model.apply({"params": params}, batch, rngs={"dropout": key}).mean()

def train(params, batches):
    key = jax.random.key(0)
    variables = model.init({"params": key, "dropout": key}, batches[0])
    for batch in batches:
        params = step(params, batch, key)  # finding
    return params, variables

@jax.jit
def update(params, batch, key):
    def loss(p):
        return model.apply({"params": p}, batch, rngs={"dropout": key}).mean()

    return jax.grad(loss)(params)

def fit(params, batches, key):
    for batch in batches:
        params = update(params, batch, key)  # finding
    for i, batch in enumerate(batches):
        params = update(params, batch, jax.random.fold_in(key, i))
    return params
