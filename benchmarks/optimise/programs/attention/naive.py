"""Trains a layer of attention by hand to copy from the token that is most like each one."""

import argparse

import jax
import jax.numpy as jnp
import numpy as np

HEADS, DEPTH = 4, 64
WIDTH = HEADS * DEPTH


def attention(q, k, v):
    scores = jnp.einsum("bthd,bshd->bhts", q, k) / np.sqrt(DEPTH)
    length = scores.shape[-1]
    mask = jnp.tril(jnp.ones((length, length), bool))
    scores = jnp.where(mask, scores, -1e30)
    weights = jax.nn.softmax(scores.astype(jnp.float32), axis=-1).astype(v.dtype)
    return jnp.einsum("bhts,bshd->bthd", weights, v)


def layer(params, x):
    q, k, v = (
        (x @ params[name].astype(x.dtype)).reshape(*x.shape[:2], HEADS, DEPTH) for name in ("q", "k", "v")
    )
    return attention(q, k, v).reshape(x.shape) @ params["o"].astype(x.dtype)


def loss_fn(params, x, y):
    return jnp.mean(jnp.square(layer(params, x.astype(jnp.bfloat16)).astype(jnp.float32) - y))


@jax.jit
def train_step(params, x, y):
    loss, grads = jax.value_and_grad(loss_fn)(params, x, y)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads), loss


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=6)
    parser.add_argument("--batch-size", type=int, default=2)
    parser.add_argument("--length", type=int, default=1024)
    args = parser.parse_args()

    keys = jax.random.split(jax.random.PRNGKey(0), 4)
    params = {
        name: jax.random.normal(key, (WIDTH, WIDTH)) / np.sqrt(WIDTH)
        for name, key in zip("qkvo", keys, strict=True)
    }
    rng = np.random.default_rng(0)
    for step in range(args.steps):
        x = rng.normal(size=(args.batch_size, args.length, WIDTH)).astype(np.float32)
        params, loss = train_step(params, x, np.roll(x, 1, axis=1))
        print(f"step {step} loss {float(loss):.3f}")


if __name__ == "__main__":
    main()
