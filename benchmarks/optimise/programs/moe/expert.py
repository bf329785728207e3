"""The same as naive.py, as maxtext and levanter run their experts: stacked, tokens sorted by expert, products by `ragged_dot`.

After https://github.com/AI-Hypercomputer/maxtext, layers/moe.py (`sparse_matmul`: sort, `jax.lax.ragged_dot`, unsort), and
https://github.com/marin-community/levanter (state donated in its train step).
"""

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
    experts: Expert  # with a leading axis of EXPERTS

    def __init__(self, key):
        router_key, *keys = jax.random.split(key, EXPERTS + 1)
        self.router = eqx.nn.Linear(WIDTH, EXPERTS, key=router_key)
        self.experts = eqx.filter_vmap(Expert)(jnp.stack(keys))

    def __call__(self, tokens):
        weights = jax.nn.softmax(jax.vmap(self.router)(tokens))
        choice = jnp.argmax(weights, axis=-1)
        order = jnp.argsort(choice)
        sizes = jnp.bincount(choice, length=EXPERTS)
        up, down = self.experts.up, self.experts.down
        h = tokens[order]
        h = jax.lax.ragged_dot(h, up.weight.transpose(0, 2, 1), sizes) + up.bias[choice[order]]
        h = (
            jax.lax.ragged_dot(jax.nn.gelu(h), down.weight.transpose(0, 2, 1), sizes)
            + down.bias[choice[order]]
        )
        out = jnp.zeros_like(tokens).at[order].set(h)
        return tokens + out * jnp.take_along_axis(weights, choice[:, None], axis=-1)


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


@eqx.filter_jit(donate="all")
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
