# blind: sixteenth
# missed: only the weights get no gradient, the biases do

"""Quantisation-aware training: weights are rounded to eight bits in the forward pass."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import optax


@dataclasses.dataclass(frozen=True)
class Quantizer:
    bits: int = 8

    @property
    def levels(self):
        return 2 ** (self.bits - 1) - 1

    def __call__(self, w):
        scale = jax.lax.stop_gradient(jnp.max(jnp.abs(w))) / self.levels
        return jnp.clip(jnp.round(w / scale), -self.levels, self.levels) * scale  # finding


def init(key, sizes):
    keys = jax.random.split(key, len(sizes) - 1)
    return [
        {"w": jax.random.normal(k, (m, n)) * jnp.sqrt(2 / m), "b": jnp.zeros(n)}
        for k, m, n in zip(keys, sizes[:-1], sizes[1:])
    ]


def forward(params, x, quantize):
    *hidden, last = params
    for layer in hidden:
        x = jax.nn.relu(x @ quantize(layer["w"]) + layer["b"])
    return x @ quantize(last["w"]) + last["b"]


def make_train_step(optimizer, quantize):
    def loss_fn(params, x, y):
        logits = forward(params, x, quantize)
        return optax.softmax_cross_entropy_with_integer_labels(logits, y).mean()

    @jax.jit
    def train_step(params, opt_state, x, y):
        loss, grads = jax.value_and_grad(loss_fn)(params, x, y)
        updates, opt_state = optimizer.update(grads, opt_state, params)
        return optax.apply_updates(params, updates), opt_state, loss

    return train_step


def main():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(1024, 20)).astype(np.float32)
    y = (x[:, :4].argmax(1)).astype(np.int32)
    params = init(jax.random.PRNGKey(0), [20, 64, 64, 4])
    first = params[0]["w"]
    optimizer = optax.adam(1e-3)
    opt_state = optimizer.init(params)
    step = make_train_step(optimizer, Quantizer(bits=8))
    for epoch in range(5):
        for i in range(0, 1024, 128):
            params, opt_state, loss = step(params, opt_state, x[i : i + 128], y[i : i + 128])
        print(epoch, loss)
    print("weights moved by", float(jnp.abs(params[0]["w"] - first).max()))


if __name__ == "__main__":
    main()
