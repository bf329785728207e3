# source: jax-ml/jax#5492

import jax
import jax.numpy as jnp


class Recorder:
    def __init__(self):
        self.losses = []

    def record(self, value):
        self.losses.append(value)  # finding


def train(params, data, recorder, lr=0.1):
    def loss_fn(p, batch):
        return jnp.mean((batch @ p) ** 2)

    def body(p, batch):
        loss, grads = jax.value_and_grad(loss_fn)(p, batch)
        recorder.record(loss)
        return p - lr * grads, None

    params, _ = jax.lax.scan(body, params, data)
    return params


recorder = Recorder()
params = train(jnp.ones(3), jnp.ones((5, 4, 3)), recorder)
print(params, recorder.losses)
