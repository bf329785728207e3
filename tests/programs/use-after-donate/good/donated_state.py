# blind: twenty-first

import functools

import jax
import jax.numpy as jnp
import numpy as np
import optax

tx = optax.adamw(1e-2)


def init(key, d_in=12, hidden=32, classes=4):
    k1, k2 = jax.random.split(key)
    return {"w1": jax.random.normal(k1, (d_in, hidden)) / d_in ** 0.5,
            "w2": jax.random.normal(k2, (hidden, classes)) / hidden ** 0.5}


def loss_fn(params, x, y):
    logits = jax.nn.gelu(x @ params["w1"]) @ params["w2"]
    return optax.softmax_cross_entropy_with_integer_labels(logits, y).mean()


@functools.partial(jax.jit, donate_argnums=(0, 1))
def train_step(params, opt_state, x, y):
    loss, grads = jax.value_and_grad(loss_fn)(params, x, y)
    updates, opt_state = tx.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state, loss


def snapshot(params):
    return jax.tree.map(lambda p: np.array(p, copy=True), params)


def distance(a, b):
    parts = [np.sum((np.asarray(x) - np.asarray(y)) ** 2)
             for x, y in zip(jax.tree.leaves(a), jax.tree.leaves(b))]
    return float(np.sqrt(sum(parts)))


def main():
    rng = np.random.default_rng(0)
    params = init(jax.random.key(0))
    opt_state = tx.init(params)
    start = snapshot(params)
    moved = []
    for it in range(120):
        x = rng.normal(size=(128, 12)).astype(np.float32)
        y = x[:, :4].argmax(axis=1)
        params, opt_state, loss = train_step(params, opt_state, x, y)
        if (it + 1) % 40 == 0:
            moved.append(distance(params, start))
    print("loss", float(loss), "distance from start", moved)
    assert moved[0] > 0.1 and float(loss) < 1.0


if __name__ == "__main__":
    main()
