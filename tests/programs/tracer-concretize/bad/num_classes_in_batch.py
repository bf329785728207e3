# source: jax-ml/jax#5017

import jax
import jax.numpy as jnp
import optax

optimizer = optax.sgd(0.1)


def make_batch(key, n, classes):
    return {"x": jax.random.normal(key, (n, 4)), "labels": jnp.arange(n) % classes, "num_classes": classes}


def loss_fn(params, batch):
    logits = batch["x"] @ params
    targets = jax.nn.one_hot(batch["labels"], batch["num_classes"])  # finding
    return optax.softmax_cross_entropy(logits, targets).mean()


@jax.jit
def update(params, state, batch):
    grads = jax.grad(loss_fn)(params, batch)
    updates, state = optimizer.update(grads, state)
    return optax.apply_updates(params, updates), state


params = jnp.zeros((4, 3))
state = optimizer.init(params)
for step in range(2):
    params, state = update(params, state, make_batch(jax.random.key(step), 8, 3))
print(params)
