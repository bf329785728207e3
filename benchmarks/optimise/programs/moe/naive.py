"""Trains a mixture of experts in equinox: each token goes to one of eight small networks."""

import argparse

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax

WIDTH, EXPERTS = 128, 8


class Expert(eqx.Module):
    up: eqx.nn.Linear
    down: eqx.nn.Linear

    def __init__(self, key):
        up_key, down_key = jax.random.split(key)
        self.up = eqx.nn.Linear(WIDTH, 4 * WIDTH, key=up_key)
        self.down = eqx.nn.Linear(4 * WIDTH, WIDTH, key=down_key)

    def __call__(self, x):
        return self.down(jax.nn.gelu(self.up(x)))


class MoE(eqx.Module):
    router: eqx.nn.Linear
    experts: list

    def __init__(self, key):
        router_key, *keys = jax.random.split(key, EXPERTS + 1)
        self.router = eqx.nn.Linear(WIDTH, EXPERTS, key=router_key)
        self.experts = [Expert(k) for k in keys]

    def __call__(self, tokens):
        weights = jax.nn.softmax(jax.vmap(self.router)(tokens))
        choice = jnp.argmax(weights, axis=-1)
        out = jnp.zeros_like(tokens)
        for i, expert in enumerate(self.experts):
            mask = (choice == i)[:, None]
            out = out + jnp.where(mask, weights[:, i : i + 1] * jax.vmap(expert)(tokens), 0.0)
        return tokens + out


class Model(eqx.Module):
    layers: list
    head: eqx.nn.Linear

    def __init__(self, key, depth):
        head_key, *keys = jax.random.split(key, depth + 1)
        self.layers = [MoE(k) for k in keys]
        self.head = eqx.nn.Linear(WIDTH, WIDTH, key=head_key)

    def __call__(self, tokens):
        for layer in self.layers:
            tokens = layer(tokens)
        return jax.vmap(self.head)(tokens)


optimizer = optax.adam(1e-3)


def loss_fn(model, x, y):
    return jnp.mean((model(x) - y) ** 2)


@eqx.filter_jit
def train_step(model, opt_state, x, y):
    loss, grads = eqx.filter_value_and_grad(loss_fn)(model, x, y)
    updates, opt_state = optimizer.update(grads, opt_state, model)
    return eqx.apply_updates(model, updates), opt_state, loss


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=15)
    parser.add_argument("--tokens", type=int, default=1024)
    args = parser.parse_args()

    model = Model(jax.random.PRNGKey(0), depth=3)
    opt_state = optimizer.init(eqx.filter(model, eqx.is_array))
    rng = np.random.default_rng(0)
    target = rng.standard_normal((WIDTH, WIDTH)) / np.sqrt(WIDTH)
    for step in range(args.steps):
        x = rng.standard_normal((args.tokens, WIDTH)).astype(np.float32)
        y = np.tanh(x @ target).astype(np.float32)
        model, opt_state, loss = train_step(model, opt_state, x, y)
        print(f"step {step} loss {loss:.4f}")


if __name__ == "__main__":
    main()
