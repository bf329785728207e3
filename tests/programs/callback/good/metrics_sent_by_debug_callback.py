# source: jax-ml/jax#13759
# blind: second

import logging

import jax
import jax.numpy as jnp
import optax

log = logging.getLogger(__name__)


class Meter:
    def __init__(self):
        self.seen = []

    def record(self, step, loss):
        self.seen.append((int(step), float(loss)))
        log.info("step %d loss %.3f", step, loss)


METER = Meter()
TX = optax.adam(1e-2)


def loss_fn(w, x, y):
    return jnp.mean((x @ w - y) ** 2)


@jax.jit
def train(w, xs, ys):
    def body(carry, batch):
        w, state, step = carry
        loss, grad = jax.value_and_grad(loss_fn)(w, *batch)
        updates, state = TX.update(grad, state)
        jax.debug.callback(METER.record, step, loss, ordered=True)
        return (optax.apply_updates(w, updates), state, step + 1), loss

    (w, _, _), losses = jax.lax.scan(body, (w, TX.init(w), 0), (xs, ys))
    return w, losses


if __name__ == "__main__":
    xs = jax.random.normal(jax.random.key(0), (10, 8, 3))
    train(jnp.zeros(3), xs, xs.sum(-1))
    jax.effects_barrier()
    assert len(METER.seen) == 10
