# source: google/jax#2083
# blind: first

import jax
import jax.numpy as jnp


def loss(params, x):
    h = jnp.tanh(x @ params["w"])
    return jnp.mean((h - 1.0) ** 2)


def inner_adapt(params, x, n=5):
    for _ in range(n):
        grads = jax.grad(loss)(params, x)
        params = jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)
    return params


@jax.jit
def meta_grad(params, x):
    return jax.grad(lambda p: loss(inner_adapt(p, x), x))(params)


def check_gradients(params, x):
    for name in params:
        bumped = {**params, name: params[name] + 1e-3}
        print(name, loss(bumped, x) - loss(params, x), jax.grad(loss)(params, x)[name].sum())


def main():
    params = {"w": jnp.ones((3, 2))}
    x = jnp.ones((4, 3))
    print(jax.vmap(loss, in_axes=(None, 0))(params, x[None]))
    check_gradients(params, x)
    return meta_grad(params, x)


if __name__ == "__main__":
    main()
