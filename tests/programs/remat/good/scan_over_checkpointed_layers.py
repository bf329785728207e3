# blind: fifth

import functools

import jax
import jax.numpy as jnp


@functools.partial(jax.checkpoint, prevent_cse=False, policy=jax.checkpoint_policies.dots_with_no_batch_dims_saveable)
def layer(x, w):
    h = jax.nn.gelu(x @ w["in"])
    return x + h @ w["out"], None


@jax.jit
def loss_and_grad(stack, x, y):
    def loss_fn(stack):
        h, _ = jax.lax.scan(layer, x, stack)
        return jnp.mean((h - y) ** 2)

    return jax.value_and_grad(loss_fn)(stack)


def main(depth=12, dim=32):
    stack = {"in": jnp.ones((depth, dim, 4 * dim)) * 0.01, "out": jnp.ones((depth, 4 * dim, dim)) * 0.01}
    loss, grads = loss_and_grad(stack, jnp.ones((4, dim)), jnp.zeros((4, dim)))
    print(loss, grads["in"].shape)


if __name__ == "__main__":
    main()
