# source: apple/axlearn#1171
# blind: ninth
# missed: a step has one product, and the rule asks for three

import jax
import jax.numpy as jnp


def cell(params, carry, x):
    gates = jnp.concatenate([carry, x], -1) @ params["w"] + params["b"]
    forget, update = jnp.split(gates, 2, axis=-1)
    carry = jax.nn.sigmoid(forget) * carry + jnp.tanh(update)
    return carry, carry


class Tagger:
    def __init__(self, width):
        self.width = width

    def init(self, key, features):
        w = jax.random.normal(key, (self.width + features, 2 * self.width)) * 0.01
        return {"w": w, "b": jnp.zeros(2 * self.width)}

    def __call__(self, params, xs):
        carry = jnp.zeros((xs.shape[1], self.width))
        last, _ = jax.lax.scan(lambda c, x: cell(params, c, x), carry, xs)  # finding
        return last


def loss(params, model, xs, y):
    return jnp.mean((model(params, xs).mean(-1) - y) ** 2)


def main():
    model = Tagger(256)
    params = model.init(jax.random.key(0), 64)
    xs = jnp.ones((4096, 32, 64))
    return jax.jit(jax.grad(loss), static_argnums=1)(params, model, xs, jnp.zeros(32))


if __name__ == "__main__":
    print(main()["b"].shape)
