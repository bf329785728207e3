# blind: fifth

import time

import jax
import jax.numpy as jnp


def loss_fn(params, x, y):
    return jnp.mean((jnp.tanh(x @ params) - y) ** 2)


def make_epoch(lr):
    def epoch(params, xs, ys):
        def step(params, batch):
            loss, grad = jax.value_and_grad(loss_fn)(params, *batch)
            return params - lr * grad, loss

        return jax.lax.scan(step, params, (xs, ys))

    return jax.jit(epoch, donate_argnums=0)


def main(epochs=3):
    xs, ys = jnp.ones((10, 32, 4)), jnp.zeros((10, 32))
    epoch = make_epoch(0.1)
    params, _ = epoch(jnp.ones(4), xs, ys)
    jax.block_until_ready(params)
    for number in range(epochs):
        start = time.time()
        params, losses = epoch(params, xs, ys)
        jax.block_until_ready((params, losses))
        print(f"epoch {number}: {time.time() - start:.3f} s")


if __name__ == "__main__":
    main()
