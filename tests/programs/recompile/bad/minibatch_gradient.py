# source: jax-ml/jax#282
# blind: twenty-first

import jax
import jax.numpy as jnp
import numpy as np
import optax


def init_params(key, sizes):
    params = []
    for k, m, n in zip(jax.random.split(key, len(sizes)), sizes[:-1], sizes[1:]):
        params.append({"w": jax.random.normal(k, (m, n)) * (2.0 / m) ** 0.5,
                       "b": jnp.zeros((n,))})
    return params


def forward(params, x):
    for layer in params[:-1]:
        x = jax.nn.relu(x @ layer["w"] + layer["b"])
    last = params[-1]
    return x @ last["w"] + last["b"]


def loss_fn(params, x, y):
    logits = forward(params, x)
    return optax.softmax_cross_entropy_with_integer_labels(logits, y).mean()


def batches(x, y, size, rng):
    order = rng.permutation(len(x))
    for start in range(0, len(x), size):
        idx = order[start:start + size]
        yield x[idx], y[idx]


def train(params, x, y, epochs=1, size=32, lr=0.05):
    tx = optax.sgd(lr, momentum=0.9)
    opt_state = tx.init(params)
    rng = np.random.default_rng(0)

    @jax.jit
    def apply(params, opt_state, grads):
        updates, opt_state = tx.update(grads, opt_state, params)
        return optax.apply_updates(params, updates), opt_state

    for epoch in range(epochs):
        for xb, yb in batches(x, y, size, rng):
            grad_fn = jax.jit(jax.value_and_grad(lambda p: loss_fn(p, xb, yb)))  # finding
            loss, grads = grad_fn(params)  # finding-also
            params, opt_state = apply(params, opt_state, grads)
        print("epoch", epoch, "loss", float(loss))
    return params


def main():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(512, 16)).astype(np.float32)
    y = (x[:, 0] * x[:, 1] > 0).astype(np.int32)
    params = init_params(jax.random.key(0), [16, 64, 64, 64, 2])
    params = train(params, x, y)
    accuracy = (forward(params, x).argmax(-1) == y).mean()
    print("accuracy", float(accuracy))


if __name__ == "__main__":
    main()
