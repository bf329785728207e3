"""The same as naive.py, as diffrax differentiates: a loop of JAX, its steps computed again in the backward pass.

After https://github.com/patrick-kidger/diffrax, diffrax/_adjoint.py (`RecursiveCheckpointAdjoint`; its `DirectAdjoint` is a scan).
"""

import argparse
import functools

import jax
import jax.numpy as jnp
import numpy as np
import optax

WIDTH, STEPS, DT = 64, 40, 0.1
optimizer = optax.adam(1e-2)


def init_params(key):
    keys = jax.random.split(key, 2)
    return {
        "w1": 0.3 * jax.random.normal(keys[0], (2, WIDTH)),
        "b1": jnp.zeros(WIDTH),
        "w2": 0.1 * jax.random.normal(keys[1], (WIDTH, 2)),
    }


def field(params, y):
    return jnp.tanh(y @ params["w1"] + params["b1"]) @ params["w2"]


def rk4_step(params, y):
    k1 = field(params, y)
    k2 = field(params, y + 0.5 * DT * k1)
    k3 = field(params, y + 0.5 * DT * k2)
    k4 = field(params, y + DT * k3)
    return y + DT / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def solve(params, y):
    @functools.partial(jax.checkpoint, prevent_cse=False)
    def step(y, _):
        y = rk4_step(params, y)
        return y, y

    return jax.lax.scan(step, y, length=STEPS)[1]


def loss_fn(params, start, target):
    return jnp.mean((solve(params, start) - target) ** 2)


@functools.partial(jax.jit, donate_argnames=("params", "opt_state"))
def train_step(params, opt_state, start, target):
    loss, grads = jax.value_and_grad(loss_fn)(params, start, target)
    updates, opt_state = optimizer.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state, loss


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=21)
    parser.add_argument("--batch-size", type=int, default=256)
    args = parser.parse_args()

    rng = np.random.default_rng(0)
    start = rng.standard_normal((args.batch_size, 2)).astype(np.float32)
    decay = np.exp(-0.1 * DT) * np.array([[np.cos(DT), np.sin(DT)], [-np.sin(DT), np.cos(DT)]])
    target, y = [], start
    for _ in range(STEPS):
        y = (y @ decay).astype(np.float32)
        target.append(y)
    target = np.stack(target)
    params = init_params(jax.random.PRNGKey(0))
    opt_state = optimizer.init(params)
    for step in range(args.steps):
        params, opt_state, loss = train_step(params, opt_state, start, target)
        if step % 4 == 0:
            print(f"step {step} loss {float(loss):.5f}")


if __name__ == "__main__":
    main()
